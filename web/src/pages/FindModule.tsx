// /modules/NAME without a Kyma: the one module of that name, or a choice. The same for what leads on to its deletion.
import { Navigate, useParams } from 'react-router'
import type { List, Module } from '../api'
import { moduleLink } from '../deeds/Progress'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Empty, Header, To } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { ModuleTable } from '../parts/modules'
import { fill } from '../fill'
import { messages } from '../messages'

const most = 200

export function Page() {
  return <Find rest="" />
}

export function DeletePage() {
  return <Find rest="/delete" />
}

/** Find looks for a name. rest is where on the pages of the module it leads. */
function Find({ rest }: { rest: string }) {
  const { name = '' } = useParams()
  const answer = useLive(query('/modules', { search: name, limit: most }))
  return (
    <>
      <Header title={name} lead={rest ? messages.findModule.whichOneIsToBeDeleted : messages.findModule.whichOne} />
      <Loaded answer={answer}>{(list) => <Body name={name} rest={rest} list={list} />}</Loaded>
    </>
  )
}

function Body({ name, rest, list }: { name: string; rest: string; list: List<Module> }) {
  const modules = (list.items ?? []).filter((m) => m.name === name)
  const [only] = modules
  const more = list.total > most // the word is in more than was read: the others of that name may be among them
  if (modules.length === 1 && only && !more) return <Navigate to={moduleLink(only.kyma, name, rest)} replace />
  if (modules.length === 0 && !more) return <Absent name={name} />
  return (
    <>
      {modules.length > 0 && (rest ? <Choice modules={modules} rest={rest} /> : <ModuleTable modules={modules} />)}
      {more && (
        <p className="dim flat">
          {messages.findModule.tooManyShowAllHere}{' '}
          <To to={`/modules?search=${encodeURIComponent(name)}`}>{messages.findModule.searchForItInTheModules}</To>
        </p>
      )}
    </>
  )
}

function Choice({ modules, rest }: { modules: Module[]; rest: string }) {
  return (
    <ul className="card pad">
      {modules.map((m) => (
        <li key={m.kyma ?? ''}>
          <To to={moduleLink(m.kyma, m.name, rest)}>
            {m.kyma ? fill(messages.findModule.theOneInKyma, { kyma: m.kyma }) : messages.findModule.theOneThatWasInstalledDirectly}
          </To>
        </li>
      ))}
    </ul>
  )
}

function Absent({ name }: { name: string }) {
  return (
    <div className="card">
      <Empty
        title={fill(messages.findModule.isNotInstalled, { name })}
        action={<Action to={`/catalog/${encodeURIComponent(name)}`}>{messages.findModule.lookInTheCatalog}</Action>}
      >
        {messages.findModule.noKymaNotInstalledDirectly}
      </Empty>
    </div>
  )
}
