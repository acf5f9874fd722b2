// What helps, as buttons: beside the cause on the page of a module, and for all of a Kyma on its page.
import { useState } from 'react'
import { DeedModal } from '../deeds/DeedModal'
import { moduleLink } from '../deeds/Progress'
import { Action, To } from '../parts/basics'
import type { Module } from '../api'
import { sentence } from '../words'
import type { Fix } from '../api'
import { ConnectModal } from './ConnectModal'
import { fill } from '../fill'
import { messages } from '../messages'

/** FixButtons are the buttons of one module, or of a Kyma itself. */
export function FixButtons({ fixes, kyma }: { fixes: Fix[]; kyma: string }) {
  const [chosen, setChosen] = useState<Fix | null>(null)
  const close = () => setChosen(null)
  if (fixes.length === 0) return null
  return (
    <div className="row" role="group" aria-label={messages.fixes.whatHelps}>
      {fixes.map((fix, i) => (
        <Action
          key={fix.title}
          variant={i === 0 ? 'filled' : 'default'}
          size="compact-md"
          allowed={fix.allowed}
          why={fix.why}
          to={fix.kind === 'delete' ? moduleLink(kyma, fix.module ?? '', '/delete') : undefined}
          onClick={() => setChosen(fix)}
        >
          {fix.title}
        </Action>
      ))}
      <DeedModal
        title={
          !chosen?.deed
            ? ''
            : chosen.module
              ? fill(messages.fixes.titleForModule, { title: chosen.title, module: chosen.module })
              : chosen.title
        }
        verb={chosen?.title ?? ''}
        deed={chosen?.deed ?? null}
        close={close}
      />
      <ConnectModal kyma={kyma} open={chosen?.kind === 'connect'} close={close} />
    </div>
  )
}

/** KymaFixes are what helps the Kyma and each of its modules, with the reason. */
export function KymaFixes({ fixes, kyma, modules }: { fixes: Fix[]; kyma: string; modules: Module[] }) {
  if (fixes.length === 0) return null
  const own = fixes.filter((fix) => !fix.module)
  const names = [...new Set(fixes.flatMap((fix) => fix.module ?? []))]
  return (
    <section className="card pad stack" aria-label={messages.fixes.whatToDo}>
      <h2 className="flat">{messages.fixes.whatToDo}</h2>
      {own.length > 0 && <FixButtons fixes={own} kyma={kyma} />}
      {names.map((name) => (
        <div key={name} className="stack tight">
          <p className="flat">
            <To to={moduleLink(kyma, name)}>{name}</To>
            <span className="dim">: {reasonOf(modules.find((module) => module.name === name))}</span>
          </p>
          <FixButtons fixes={fixes.filter((fix) => fix.module === name)} kyma={kyma} />
        </div>
      ))}
    </section>
  )
}

/** reasonOf says why a module is not as it was asked for. */
function reasonOf(module: Module | undefined): string {
  if (module?.pending) return fill(messages.fixes.versionWaitsForConsent, { version: module.pending.version ?? '' })
  return sentence(module?.installation.message ?? module?.module.message ?? messages.fixes.itIsNotReady)
}
