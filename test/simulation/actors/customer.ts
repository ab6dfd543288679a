import type { Random } from '../world/random.ts'
import { type Accounts, openAccounts } from './accounts.ts'
import type { ChannelTruth, Moment } from './truth.ts'
import { confirmed, type World } from './world.ts'

/** A customer: a project, the receivers of its alerts, and its accounts at the providers. */
export interface Customer extends Accounts {
  readonly projectId: string
  /** The names of the hosts of its webhook receivers. */
  readonly hosts: readonly string[]
}

const EVENTS = ['incident.opened', 'incident.resolved'] as const

/** The URLs of a customer's receivers. */
interface ReceiverUrls {
  readonly webhooks: readonly string[]
  /** An incoming webhook of a team chat. */
  readonly chat?: string
}

interface NewCustomer {
  readonly name: string
  readonly receivers: ReceiverUrls
  /** The setting `refunded_twice_within_hours` of its connections; null by default. */
  readonly twiceWithinHours?: number | null
  /** The setting `burst_alarm` of its connections; true by default. */
  readonly hasBurstAlarm?: boolean
}

export async function openCustomer(
  world: World,
  random: Random,
  { name, receivers: { webhooks, chat }, twiceWithinHours = null, hasBurstAlarm = true }: NewCustomer,
): Promise<Customer> {
  const { api } = world
  const projectId = String((await api.post('/v1/projects', { name })).project_id)
  for (const url of webhooks) await openChannel(world, projectId, url)
  const common = { project_id: projectId, name: 'Chat', events: EVENTS }
  if (chat !== undefined)
    await api.post('/v1/alert-channels', { ...common, config: { kind: 'slack', webhook_url: chat } })
  const hosts = webhooks.map(url => new URL(url).host)
  return { projectId, hosts, ...(await openAccounts(world, random, projectId, { twiceWithinHours, hasBurstAlarm })) }
}

/** Makes a webhook channel. The judge knows it from then on. */
export async function openChannel(world: World, projectId: string, url: string): Promise<void> {
  const { api, clock, truth } = world
  const begins: Moment = { fromMs: clock.now }
  const { host } = new URL(url)
  const config = { kind: 'webhook', url }
  const body = { project_id: projectId, name: host, events: EVENTS, config }
  const { id } = await confirmed(world, begins, api.post('/v1/alert-channels', body))
  const channel: ChannelTruth = { channelId: String(id), projectId, host, events: EVENTS, begins }
  truth.channels.push(channel)
}
