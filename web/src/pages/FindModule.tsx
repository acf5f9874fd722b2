// /modules/NAME without a Kyma: the one module of that name, or a choice.
import { Navigate, useParams } from 'react-router'
import type { List, Module } from '../api'
import { moduleLink } from '../deeds/Progress'
import { query } from '../live/http'
import { useLive } from '../live/useLive'
import { Action, Empty, Header } from '../parts/basics'
import { Loaded } from '../parts/loaded'
import { ModuleTable } from '../parts/modules'

export function Page() {
  const { name = '' } = useParams()
  const answer = useLive<List<Module>>(query('/modules', { search: name, limit: 200 }))
  return (
    <>
      <Header title={name} lead="Which one?" />
      <Loaded answer={answer}>{(list) => <Body name={name} modules={(list.items ?? []).filter((m) => m.name === name)} />}</Loaded>
    </>
  )
}

function Body({ name, modules }: { name: string; modules: Module[] }) {
  const [only] = modules
  if (modules.length === 1 && only) return <Navigate to={moduleLink(only.kyma, name)} replace />
  if (modules.length > 1) return <ModuleTable modules={modules} />
  return (
    <div className="card">
      <Empty title={`${name} is not installed`} action={<Action to={`/catalog/${encodeURIComponent(name)}`}>Look in the catalog</Action>}>
        No Kyma has it, and nobody installed it directly.
      </Empty>
    </div>
  )
}
