/** Creates the project of the demo's week through the management API: connections, channels, budgets and an expected change. */
import type { CreatedConnection } from '@backstop/contracts'
import type { ManagementApi } from '../../management-api.ts'
import { ACCOUNTS, type AccountName, GOODWILL } from './changes.ts'

/** A connection of the demo, with the secret by which its provider authenticates events. */
export interface DemoConnection {
  readonly connection_id: string
  readonly inbound_url: string
  readonly secret: string
}

export interface DemoWeekProject {
  readonly project_id: string
  readonly connections: Readonly<Record<AccountName, DemoConnection>>
}

/** The read key of the simulated biller. It works on this machine only. */
export const BILLER_READ_KEY = 'demo-read-key'
const RESELLER_SECRET = 'pdl_ntfset_demo_0123456789abcdef'
/** Before the first change of the week. */
const CONNECTED_BEFORE_MS = 8 * 86_400_000

const FORMS: Readonly<Record<AccountName, Record<string, unknown>>> = {
  shop: { kind: 'processor', name: 'Online shop', out_of_band: 'alert' },
  marketplace: { kind: 'processor', name: 'Marketplace', out_of_band: 'alert' },
  japan: { kind: 'processor', name: 'Shop Japan (support refunds by hand)', out_of_band: 'ignore' },
  app_store: { kind: 'reseller', name: 'App store', out_of_band: 'auto', destination_secret: RESELLER_SECRET },
  memberships: { kind: 'subscription', name: 'Memberships', out_of_band: 'alert', site: 'example-company' },
}

export interface DemoAddresses {
  readonly receiverUrl: string
  readonly billerUrl: string
}

export async function createDemoProject(
  api: ManagementApi,
  { receiverUrl, billerUrl }: DemoAddresses,
  madeAtMs: number,
): Promise<DemoWeekProject> {
  const { project_id } = await api.post<{ project_id: string }>('/v1/projects', { name: 'Example company', demo: true })
  const connected_at = new Date(madeAtMs - CONNECTED_BEFORE_MS).toISOString()
  const connections: Partial<Record<AccountName, DemoConnection>> = {}
  for (const name of ACCOUNTS) {
    const reading = name === 'memberships' ? { read_key: BILLER_READ_KEY, api_base: billerUrl } : {}
    const form = { ...FORMS[name], ...reading, connected_at }
    const made = await api.post<CreatedConnection>(`/v1/projects/${project_id}/connections`, form)
    const { connection_id, inbound_url } = made
    connections[name] = {
      connection_id,
      inbound_url,
      secret: made.signing_secret ?? made.password ?? RESELLER_SECRET,
    }
  }
  const project = { project_id, connections: connections as Record<AccountName, DemoConnection> }
  await addChannels(api, project, receiverUrl)
  await addRules(api, project, madeAtMs)
  return project
}

/** The channels deliver to the receiver on this machine, so that nothing of the demo leaves it. */
async function addChannels(api: ManagementApi, { project_id }: DemoWeekProject, receiverUrl: string): Promise<void> {
  const incidents = ['incident.opened', 'incident.acknowledged', 'incident.resolved']
  const approvals = ['approval.requested', 'approval.reminder', 'approval.expired']
  const channels = [
    {
      name: 'Billing team',
      events: [...incidents, ...approvals, 'cap.threshold', 'run.failed'],
      config: { kind: 'slack', webhook_url: `${receiverUrl}/slack` },
    },
    { name: 'Finance warehouse', events: incidents, config: { kind: 'webhook', url: `${receiverUrl}/warehouse` } },
    {
      name: 'On call (first attempt fails)',
      events: ['incident.opened'],
      config: { kind: 'webhook', url: `${receiverUrl}/unsteady` },
    },
  ]
  for (const channel of channels) await api.post('/v1/alert-channels', { project_id, ...channel })
}

async function addRules(
  api: ManagementApi,
  { project_id, connections }: DemoWeekProject,
  madeAtMs: number,
): Promise<void> {
  const { connection_id } = connections.shop
  const money = { project_id, currency: 'eur' }
  await api.post('/v1/budgets', {
    ...money,
    connection_id,
    name: 'Refunds of the shop',
    cap: 300_000,
    interval: 'month',
  })
  await api.post('/v1/budgets', { ...money, name: 'All refunds in a day', cap: 250_000, interval: 'day' })
  await api.post('/v1/expected-changes', {
    project_id,
    connection_id,
    kind: 'refund',
    amount: GOODWILL.amount,
    currency: GOODWILL.currency,
    max_changes: GOODWILL.count,
    note: 'Goodwill for the outage: support refunds the delivery fee by hand',
    starts_at: new Date(madeAtMs - CONNECTED_BEFORE_MS).toISOString(),
    expires_in_seconds: 30 * 86_400,
  })
}
