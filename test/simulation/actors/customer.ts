import { type AccountParts, type Accounts, openAccounts } from './accounts.ts'

/** A customer: a project, a receiver of its alerts, and its accounts at the providers. */
export interface Customer extends Accounts {
  readonly projectId: string
}

export interface CustomerParts extends Omit<AccountParts, 'projectId'> {
  /** The address of the receiver. */
  readonly channelUrl: string
}

export async function openCustomer(name: string, parts: CustomerParts): Promise<Customer> {
  const { api, channelUrl } = parts
  const projectId = String((await api.post('/v1/projects', { name })).project_id)
  const begins = { fromMs: parts.scheduler.now, toMs: parts.scheduler.now }
  const made = await api.post('/v1/alert-channels', {
    project_id: projectId,
    name: 'Receiver',
    events: ['incident.opened', 'incident.resolved'],
    config: { kind: 'webhook', url: channelUrl },
  })
  parts.truth.channels.push({
    channelId: String(made.id),
    projectId,
    host: new URL(channelUrl).host,
    events: ['incident.opened', 'incident.resolved'],
    begins,
  })
  return { projectId, ...(await openAccounts({ ...parts, projectId })) }
}
