// Step 1: for which Kyma, and which modules.
import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { Store } from 'lucide-react'
import type { KymaLine, List, Offer, OfferRow } from '../api'
import { ofCluster } from '../catalog/links'
import { query } from '../live/http'
import { useLive, type Answer } from '../live/useLive'
import { Avatar, Empty, Tag, TypeTag, NotRead, hidden } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { TextSearch } from '../parts/search'
import { sentence } from '../words'
import { ofSource, SourceSelect, useSourceOffers } from './SourceOffers'
import { choicesOf, installedIn, isPicked, keyOf, versionOf, type Move, type Wizard } from './wizard'
import { fill } from '../fill'
import { messages } from '../messages'

interface Props {
  w: Wizard
  act: (m: Move) => void
  wanted: { kyma: string; module: string; namespace: string; source: string }
  /** begun is whether the module of the address was chosen once: the user may deselect it and return to this step. */
  begun: boolean
  begin: () => void
}

export function Choose({ w, act, wanted, begun, begin }: Props) {
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search.trim(), 200)
  const [source, setSource] = useState(wanted.source)
  const here = useLive(source ? null : query('/catalog', { search: asked, source: ofCluster, limit: 60 }), true)
  const there = useSourceOffers(source, asked)
  const answer = source ? there : here
  const one = query('/catalog/{name}', { name: wanted.module, namespace: wanted.namespace, source: wanted.source })
  const offered = useLive(wanted.module ? one : null).data
  const first = offered && wanted.source ? ofSource(offered) : offered
  const picked = first !== undefined && isPicked(w, first)
  useEffect(() => {
    if (begun || !first || (w.pending && !picked)) return // whether it is installed depends on the Kyma
    begin()
    if (!picked && !installedIn(w, first)) act({ do: 'toggle', offer: first })
  }, [begun, begin, first, picked, act, w])
  return (
    <section className="stack" aria-label={messages.common.chooseModules}>
      <div className="side-by-side">
        <Target w={w} act={act} wanted={wanted.kyma} />
        <SourceSelect value={source} change={setSource} />
      </div>
      <TextSearch label={messages.common.searchTheCatalog} value={search} change={setSearch} />
      <Loaded answer={answer}>{(list) => <Offers list={list} w={w} act={act} />}</Loaded>
    </section>
  )
}

/** Target chooses the Kyma. The only one is taken by itself; without any, modules are installed directly. */
function Target({ w, act, wanted }: { w: Wizard; act: (m: Move) => void; wanted: string }) {
  const [search, setSearch] = useState('')
  const [asked] = useDebouncedValue(search === w.kyma ? '' : (search.split('/').pop() ?? ''), 200)
  const answer = useLive(query('/kymas', { search: asked, limit: 20 }), true)
  const named = useNamed(wanted)
  const items = answer.data?.items ?? []
  useOnly(w, act, named.kyma ?? (wanted ? undefined : items.length === 1 && asked === '' ? items[0] : undefined))
  const known = asked === '' ? knownOf(answer) : undefined
  useSettled(w, act, named.waits ? undefined : known)
  if (known && known.total === 0) {
    const why = answer.error || hidden(known.unread, 'Kyma') ? messages.choose.cannotReadKymas : messages.choose.thereIsNoKymaHere
    return <p className="dim flat">{fill(messages.choose.modulesInstalledDirectlyCluster, { why })}</p>
  }
  const ids = [...new Set([...(w.kyma ? [w.kyma] : []), ...items.map((k) => `${k.namespace}/${k.name}`)])]
  return (
    <Select
      label={messages.choose.forWhichKyma}
      description={messages.choose.communityModulesGoDirectlyInto}
      maw={420}
      placeholder={messages.choose.chooseAKyma}
      data={ids}
      value={w.kyma || null}
      searchable
      clearable
      searchValue={search}
      onSearchChange={setSearch}
      nothingFoundMessage={messages.choose.noKymaOfThatName}
      error={answer.error && sentence(answer.error.message)}
      filter={({ options }) => options}
      clearButtonProps={{ 'aria-label': messages.choose.noKyma }}
      onChange={(id) => act({ do: 'kyma', kyma: items.find((k) => `${k.namespace}/${k.name}` === id) ?? null })}
    />
  )
}

/** useNamed is the Kyma that the address asks for, if it does. */
function useNamed(wanted: string): { kyma?: KymaLine; waits: boolean } {
  const [namespace, name] = wanted.split('/')
  const path = namespace && name ? query('/kymas/{ns}/{name}', { ns: namespace, name }) : null
  const answer = useLive(path)
  return { kyma: answer.data?.kyma, waits: path !== null && answer.loading }
}

/** useOnly selects the only Kyma, once: the user may deselect it. */
function useOnly(w: Wizard, act: (m: Move) => void, only: KymaLine | undefined) {
  const [taken, setTaken] = useState(false)
  useEffect(() => {
    if (taken || !only || w.kyma) return
    setTaken(true)
    act({ do: 'kyma', kyma: only })
  }, [taken, only, w.kyma, act])
}

/** useSettled tells the wizard whether there are Kymas, as soon as that is known. */
function useSettled(w: Wizard, act: (m: Move) => void, known: List<KymaLine> | undefined) {
  useEffect(() => {
    if (!known) return
    const any = known.total > 0
    if (w.pending || any !== w.kymas) act({ do: 'kymas', any })
  }, [known, w.kymas, w.pending, act])
}

/** knownOf is the list of Kymas once it is there. Who may not read it has none; a cluster that does not answer is asked again. */
function knownOf(answer: Answer<List<KymaLine>>): List<KymaLine> | undefined {
  if (answer.error?.status === 403) return noKymas
  return answer.loading ? undefined : answer.data
}

const noKymas: List<KymaLine> = { items: [], total: 0 }

function Offers({ list, w, act }: { list: List<Offer>; w: Wizard; act: (m: Move) => void }) {
  const items = list.items ?? []
  if (items.length === 0) {
    return (
      <div className="card">
        <Empty icon={<Store size={40} aria-hidden />} title={messages.common.noMatchingModules}>
          {messages.choose.tryAnotherWordAddSource}
        </Empty>
      </div>
    )
  }
  return (
    <>
      <NotRead unread={list.unread} />
      <div className="grid grid-cards">
        {items.map((offer) => (
          <Card key={keyOf(offer)} offer={offer} w={w} act={act} />
        ))}
      </div>
      {list.total > items.length && (
        <p className="dim flat">{fill(messages.choose.moreSearchNeed, { total: list.total - items.length })}</p>
      )}
    </>
  )
}

/** From tells the namespace of an offer: several can offer modules of one name. */
function From({ offer }: { offer: Offer }) {
  return offer.namespace && !offer.source ? <Tag means={messages.choose.theNamespaceThatOffersIt}>{offer.namespace}</Tag> : null
}

function Card({ offer, w, act }: { offer: Offer; w: Wizard; act: (m: Move) => void }) {
  const pick = w.picks.find((p) => keyOf(p.offer) === keyOf(offer))
  const there = installedIn(w, offer)
  const mandatory = offer.mandatory ? messages.choose.comesByItself : ''
  const version = pick
    ? versionOf(w, pick)
    : (offer.channels?.find((c) => c.channel === w.kymaChannel) ?? offer.channels?.[0] ?? offer.versions?.[0])?.version
  const hindered = there || mandatory || (choicesOf(w, offer).length > 0 ? '' : messages.common.noVersionCanBeHad)
  return (
    <label className="card pad pick" data-on={Boolean(pick)}>
      <input
        type="checkbox"
        checked={Boolean(pick)}
        disabled={hindered !== '' && !pick} // what was chosen before the Kyma can always be taken back
        onChange={() => act({ do: 'toggle', offer })}
        aria-label={`${offer.name}${hindered ? ', ' + hindered : ''}`}
      />
      <Avatar name={offer.name} />
      <span className="stack tight">
        <strong>{offer.name}</strong>
        <span className="row tags">
          <TypeTag type={offer.type} />
          {version && <Tag>{version}</Tag>}
          <From offer={offer} />
          {offer.versions?.find((v) => v.version === version)?.beta && <Tag tone="warn">{messages.common.beta}</Tag>}
        </span>
        {(offer as OfferRow).description && <span className="dim small two-lines">{(offer as OfferRow).description}</span>}
        {hindered && <span className="dim small">{hindered}</span>}
      </span>
    </label>
  )
}
