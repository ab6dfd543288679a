/** The places of the console of which `npm run screens` takes pictures, by the names of the pictures. */
import type { Action, Connection, Incident, ShownBudget, ShownOperation } from '@backstop/contracts'
import type { ManagementApi } from '../start/management-api.ts'

/** The paths of places by the names of their pictures. */
export type Places = Readonly<Record<string, string>>

const SYSTEM = ['', '/projects', '/keys', '/people', '/sessions', '/audit', '/dead-letters']
export const SYSTEM_PLACES: Places = Object.fromEntries(
  SYSTEM.map(path => [`system${path.replace('/', '-')}`, `/system${path}`]),
)

/** The lists and forms of a project, which show something without any data too. */
export function listsOf(projectId: string): Places {
  const paths = {
    overview: '',
    incidents: '/incidents',
    storms: '/storms',
    actions: '/actions',
    actors: '/actors',
    statements: '/statements',
    completeness: '/completeness',
    'dry-run': '/dry-run',
    operations: '/operations',
    approvals: '/approvals',
    budgets: '/budgets',
    runs: '/runs',
    connections: '/connections',
    'new-connection': '/connections/new',
    channels: '/channels',
    'new-channel': '/channels/new',
    deliveries: '/deliveries',
    'expected-changes': '/expected-changes',
    settings: '/settings',
  }
  return inProject(projectId, paths)
}

/** The pages of single things: of each kind the first of the project, if it has one. */
export async function thingsOf(api: ManagementApi, projectId: string): Promise<Places> {
  const list = async <T>(path: string) => (await api.get<{ data: T[] }>(`${path}limit=200`)).data
  const of = `project_id=${projectId}&`
  const actions = await list<Action>(`/v1/actions?${of}`)
  const unexplained = actions.filter(({ verdict }) => verdict === 'unexplained')
  const [resolved] = await list<Incident>(`/v1/incidents?${of}state=resolved&`)
  // The storm has customers of the same names, so the incident with a near candidate is found by its candidate.
  const nearMiss = unexplained.find(({ why }) => why?.closest !== undefined)
  const incidentOf = (customer: string) => unexplained.find(action => action.customer?.name === customer)?.incident_id
  const [storm] = await list<{ storm_id: string }>(`/v1/storms?${of}`)
  const operations = await list<ShownOperation>(`/v1/operations?${of}`)
  const [budget] = await list<ShownBudget>(`/v1/budgets?${of}`)
  const [connection, ...connections] = await list<Connection>(`/v1/projects/${projectId}/connections?`)
  const [channel] = await list<{ channel_id: string }>(`/v1/alert-channels?${of}`)
  const [delivery] = await list<{ delivery_id: string }>(`/v1/deliveries?${of}`)
  const [expected] = await list<{ expected_change_id: string }>(`/v1/expected-changes?${of}`)
  const [run] = await list<{ run_id: string }>(`/v1/runs?${of}`)
  const known = actions.find(({ customer }) => customer?.id != null)
  const waiting = operations.find(({ state }) => state === 'approval_pending')
  const incident = nearMiss?.incident_id ?? unexplained[0]?.incident_id
  const open = unexplained.find(({ incident_id }) => incident_id !== null && incident_id !== incident)?.incident_id
  const dialog = (name: string) => path('incidents', open && `${open}?do=${name}`)
  const month = (index: number) => new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + index))
  const [from, middle, to] = [-1, 0, 1].map(index => month(index).toISOString().slice(0, 10))
  const found = {
    incident: path('incidents', incident),
    'incident-acknowledge': dialog('acknowledge'),
    'incident-ours': dialog('ours'),
    'incident-silence': dialog('silence'),
    'statements-compared': `/statements?from=${middle}&to=${to}&with_from=${from}&with_to=${middle}`,
    'incident-right-to-left': path('incidents', incidentOf('يوسف الحدّاد')),
    'incident-resolved': path('incidents', resolved?.incident_id),
    storm: path('storms', storm?.storm_id),
    customer: path('customers', known && `${known.customer?.id}?connection_id=${known.connection_id}`),
    actor: path('actors', actions.find(({ actor_id }) => actor_id !== undefined)?.actor_id),
    account: path('accounts', actions.find(({ account }) => account != null)?.account),
    action: path('actions', actions.find(({ verdict }) => verdict === 'not_alerted')?.action_id),
    'action-explained': path('actions', actions.find(({ verdict }) => verdict === 'explained')?.action_id),
    operation: path('operations', operations.find(({ state }) => state === 'completed')?.operation_id),
    'operation-waiting': path('operations', waiting?.operation_id),
    budget: path('budgets', budget?.budget_id),
    run: path('runs', run?.run_id),
    connection: path('connections', connection?.connection_id),
    'connection-read': path('connections', connections.find(({ kind }) => kind === 'subscription')?.connection_id),
    channel: path('channels', channel?.channel_id),
    delivery: path('deliveries', delivery?.delivery_id),
    'expected-change': path('expected-changes', expected?.expected_change_id),
  }
  return inProject(projectId, found)
}

function path(place: string, id: string | null | undefined): string | undefined {
  return id == null ? undefined : `/${place}/${id}`
}

function inProject(projectId: string, paths: Readonly<Record<string, string | undefined>>): Places {
  const found = Object.entries(paths).filter(([, path]) => path !== undefined)
  return Object.fromEntries(found.map(([name, path]) => [name, `/p/${projectId}${path}`]))
}
