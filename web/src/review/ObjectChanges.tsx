// What changes in a cluster when one version replaces another: objects and their fields, rendered old against new. The server hides values
// of Secrets.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Change, Changes, FieldChange, ObjectId } from '../api'
import { ChangeOf } from '../deeds/ReviewPanel'
import { Notice, Tag } from '../parts/basics'
import { count, refText, sentence } from '../words'
import { objectsText } from './words'
import { fill } from '../fill'
import { messages } from '../messages'

const few = 12

const refOf = (id: ObjectId) => ({ apiVersion: id.group ?? '', kind: id.kind, namespace: id.namespace, name: id.name })

const fieldsOf = (fields: FieldChange[] = []) => fields.map(({ path, from = '', to = '' }) => ({ path, from, to }))

/** changesOf are the objects that differ, as a dry run would tell them: what goes first, what is new last. */
export function changesOf({ objects, template }: Changes): Change[] {
  const of = (ids: ObjectId[] = [], change: Change['change']) => ids.map((id): Change => ({ object: refOf(id), change, fields: null }))
  const changed = (objects.changed ?? []).map((one): Change => {
    const more = one.moreFields ?? 0
    const rest =
      more > 0
        ? [{ path: fill(messages.objectChanges.andFields, { fields: count(more, messages.nouns.moreField) }), from: '', to: '' }]
        : []
    return { object: refOf(one), change: 'Update', fields: [...fieldsOf(one.fields), ...rest] }
  })
  const object = { apiVersion: '', kind: 'ModuleTemplate', name: 'settings' }
  const settings: Change = { object, change: 'Update', fields: fieldsOf(template) }
  const others = (template ?? []).length > 0 ? [settings] : []
  return [...of(objects.removed, 'Delete'), ...changed, ...others, ...of(objects.added, 'Create')]
}

/** ObjectChangesView lists the objects that differ, each with its fields. */
export function ObjectChangesView({ changes }: { changes: Changes }) {
  const [all, setAll] = useState(false)
  const list = changesOf(changes)
  const shown = all ? list : list.slice(0, few)
  const restarts = changes.objects.restarts ?? []
  const refused = (changes.definitions ?? []).filter((one) => one.refused)
  return (
    <div className="stack tight">
      <p className="flat">{objectsText(changes.objects)}</p>
      {restarts.length > 0 && (
        <p className="flat row">
          {restarts.slice(0, few).map((id) => (
            <Tag key={refText(id)} means={messages.objectChanges.podsReplacedBecauseDescriptionChanges}>
              {refText(id)}
            </Tag>
          ))}
          {restarts.length > few && (
            <span className="dim small">{fill(messages.objectChanges.andMore, { count: restarts.length - few })}</span>
          )}
        </p>
      )}
      {refused.map((one) => (
        <Notice
          key={one.definition + one.rule}
          tone="bad"
          title={fill(messages.objectChanges.wouldBeRefused, { definition: one.definition })}
        >
          <p>
            {sentence(one.message)}
            {one.onlyWithObjects && ' ' + messages.objectChanges.onlyClustersObjectsConcernsRefuse}
          </p>
        </Notice>
      ))}
      {changes.from && !changes.wayBack.vouched && (
        <p className="dim small flat">{fill(messages.objectChanges.authorNotVouchWayBack, { version: changes.from.version })}</p>
      )}
      {list.length > 0 && (
        <div className="card changes">
          {shown.map((change, i) => (
            <ChangeOf key={i} change={change} open={list.length <= 2} />
          ))}
        </div>
      )}
      {shown.length < list.length && (
        <div>
          <Button size="compact-sm" variant="subtle" onClick={() => setAll(true)}>
            {fill(messages.objectChanges.showMoreObjects, { count: list.length - shown.length })}
          </Button>
        </div>
      )}
    </div>
  )
}
