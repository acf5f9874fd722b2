// A deed in a dialog: what is asked first, then what it would do, then how it is going. The last has an address of its own.
import { Button, Modal } from '@mantine/core'
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'
import { useLocation, useNavigate } from 'react-router'
import type { Deed } from '../api'
import { FormModal } from '../parts/formmodal'
import { InView } from '../parts/inview'
import { reviewQuery } from '../live/moduleQueries'
import { ReviewOf } from '../review/ReviewOf'
import { objectsOf, type Objects } from './objects'
import { dialogOf, searchWith } from './place'
import { Progress } from './Progress'
import { ReviewPanel } from './ReviewPanel'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  title: string
  verb: string
  deed: Deed | null
  danger?: boolean
  /** ask is what a user chooses before there is a deed. */
  ask?: ReactNode
  /** before stands above what would change, and goes when it has begun. */
  before?: ReactNode
  /** version is what the deed leads to, where it does not say so itself. */
  version?: string
  close(): void
  started?: () => void
}

/**
 * held are the operations whose dialog is open already: the one of the address would be a second one. That takes over when the part of the
 * page goes that began them, as a button does once it has helped.
 */
const held = new Set<string>()
const listeners = new Set<() => void>()

function hold(ids: string[]) {
  ids.forEach((id) => held.add(id))
  listeners.forEach((listen) => listen())
}

function release(ids: string[]) {
  ids.forEach((id) => held.delete(id))
  listeners.forEach((listen) => listen())
}

function listenToHeld(listen: () => void) {
  listeners.add(listen)
  return () => void listeners.delete(listen)
}

export function DeedModal({ title, verb, deed, danger, ask, before, version, close, started }: Props) {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const [ids, setIds] = useState<string[]>([])
  const shown = useRef(false)
  const end = () => {
    shown.current = false
    setIds([])
    close()
  }
  const there = ids.length > 0 && dialogOf(search).includes(ids[0] ?? '')
  const leave = () => {
    if (ids.length > 0) void navigate({ pathname, search: searchWith(search, []) }, { replace: true })
    if (!there) end() // the address that ends it was never reached: a busy page gets to it later than to the operation
  }
  const latest = useRef(end)
  useEffect(() => {
    latest.current = end
  })
  useEffect(() => {
    if (there) shown.current = true
    else if (shown.current) latest.current() // it was closed, or Back was pressed
  }, [there])
  useEffect(() => () => release(ids), [ids])
  const begun = (all: string[]) => {
    hold(all)
    setIds(all)
    void navigate({ pathname, search: searchWith(search, all) })
    started?.()
  }
  return (
    <FormModal opened={deed !== null || Boolean(ask)} close={leave} title={title} size="lg" saved={ids.length > 0}>
      {ids.length > 0 ? (
        <Running ids={ids} close={leave} />
      ) : deed ? (
        <InView key={JSON.stringify(deed)} label={messages.common.whatWouldChange}>
          {before}
          <InRuntime objects={objectsOf(deed, version)} />
          <ReviewPanel
            deeds={[deed]}
            verb={verb}
            danger={danger}
            started={(operations) => begun(operations.map(({ id }) => id))}
            back={
              <Button variant="default" onClick={leave}>
                {messages.common.cancel}
              </Button>
            }
          />
        </InView>
      ) : (
        ask
      )}
    </FormModal>
  )
}

/** InRuntime shows which objects in the runtime change, or says why that is not known. */
function InRuntime({ objects }: { objects: Objects }) {
  if (!objects) return null
  if ('says' in objects) return <p className="dim flat">{objects.says}</p>
  const { kyma, module, version } = objects
  return (
    <ReviewOf
      key={version}
      title={fill(messages.deedModal.whatChangesInTheRuntime, { version })}
      of={reviewQuery(kyma, module, version)}
      eager
    />
  )
}

function Running({ ids, close }: { ids: string[]; close: () => void }) {
  return (
    <InView label={messages.common.howItIsGoing}>
      {ids.map((id) => (
        <Progress key={id} id={id} />
      ))}
      <p className="dim small">{messages.deedModal.closeGoesListedUnderOperations}</p>
      <div>
        <Button variant="default" onClick={close}>
          {messages.common.close}
        </Button>
      </div>
    </InView>
  )
}

/** OperationDialog shows the operations of the address: after a reload, or when it was sent to another person. */
export function OperationDialog() {
  const navigate = useNavigate()
  const { pathname, search } = useLocation()
  const open = useSyncExternalStore(listenToHeld, () => [...held].join(' '))
  const ids = dialogOf(search).filter((id) => !open.split(' ').includes(id))
  const close = () => void navigate({ pathname, search: searchWith(search, []) }, { replace: true })
  return (
    <Modal opened={ids.length > 0} onClose={close} title={messages.common.operation} size="lg">
      <Running ids={ids} close={close} />
    </Modal>
  )
}
