import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { ProviderKind } from '@backstop/contracts'
import {
  bytesOf,
  type Credential,
  createBiller,
  createCardProcessor,
  createChance,
  createReseller,
  credentialHeaders,
  type EventSource,
  type ProviderApi,
  startBillerApi,
  startProcessorApi,
  startResellerApi,
} from '@backstop/simulator'
import { isAccepted, nameOf, type ProviderEvents } from '../../../packages/simulator/src/posting/provider-event.ts'
import { billerChangeKinds } from '../../setup/planned-changes/biller.ts'
import type { ChangeKind } from '../../setup/planned-changes/change-kind.ts'
import { processorChangeKinds } from '../../setup/planned-changes/processor.ts'
import { resellerChangeKinds } from '../../setup/planned-changes/reseller.ts'
import type { WorldClock } from '../world/agenda.ts'
import type { Cluster } from '../world/cluster.ts'
import type { Random } from '../world/random.ts'
import type { Swarm } from '../world/swarm.ts'
import type { ApiUser } from './api-user.ts'
import type { Truth } from './truth.ts'

const READ_KEY = 'a-key-that-may-only-read'
const DESTINATION_SECRET = 'pdl_ntfset_01j0000000000000000000000_simulation'
const ANSWER_WITHIN_MS = 20_000
/** Pauses before a provider posts a notification again, in milliseconds. The real ones go on for three days. */
const REPEAT_AFTER_MS = [2_000, 10_000, 30_000, 60_000] as const

type Event = ProviderEvents[keyof ProviderEvents]

export interface AccountParts {
  readonly scheduler: WorldClock
  readonly random: Random
  readonly swarm: () => Swarm
  readonly cluster: Pick<Cluster, 'request'>
  readonly api: ApiUser
  readonly projectId: string
  readonly truth: Truth
}

/** The billing accounts of one customer, at all three providers, connected to its project. */
export interface Accounts {
  readonly kinds: readonly ChangeKind[]
  readonly providers: readonly ProviderApi[]
}

export async function openAccounts(parts: AccountParts): Promise<Accounts> {
  const { scheduler, random } = parts
  const now = () => scheduler.now
  const chance = () => createChance(random.between(0, 2 ** 31))
  const access = () => ({ readKeys: [READ_KEY], now, rateLimits: [], chance: chance() })
  const processor = createCardProcessor({ now, chance: chance() })
  const reseller = createReseller({ now, chance: chance() })
  const biller = createBiller({ now, chance: chance() })
  const providers = [
    await startProcessorApi({ processor, ...access() }),
    await startResellerApi({ reseller, ...access() }),
    await startBillerApi({ biller, ...access() }),
  ] as const
  const cards = await connect(parts, 'processor', processor, providers[0], random.chance(0.5))
  const sales = await connect(parts, 'reseller', reseller, providers[1], random.chance(0.5))
  const subscriptions = await connect(parts, 'subscription', biller, providers[2], true)
  const kinds = [
    ...processorChangeKinds(cards as never),
    ...resellerChangeKinds(sales as never),
    ...billerChangeKinds(subscriptions as never, cards as never),
  ]
  return { kinds, providers }
}

async function connect(
  parts: AccountParts,
  kind: ProviderKind,
  account: object,
  providerApi: ProviderApi,
  isReadable: boolean,
) {
  const { api, projectId } = parts
  const made = await api.post(`/v1/projects/${projectId}/connections`, {
    kind,
    name: `Account at the ${kind}`,
    out_of_band: 'alert',
    ...(kind === 'reseller' ? { destination_secret: DESTINATION_SECRET } : {}),
    ...(isReadable ? { read_key: READ_KEY, api_base: providerApi.url } : {}),
    ...(kind === 'subscription' ? { site: 'shop' } : {}),
  })
  const connectionId = String(made.connection_id)
  const poster = new Poster(parts, kind, connectionId, credentialOf(kind, made))
  poster.follow(account as EventSource<Event>)
  return {
    kind,
    account,
    connectionId,
    report: (operation: object) =>
      api.post('/v1/operations', { connection_id: connectionId, kind: 'refund', ...operation }),
    reportTransition: (id: string, transition: object) => api.post(`/v1/operations/${id}/transitions`, transition),
    withLostEvents: <T>(act: () => T) => poster.losing(act),
  }
}

function credentialOf(kind: ProviderKind, made: Record<string, unknown>): Credential {
  if (kind === 'processor') return { kind, secrets: [String(made.signing_secret)] }
  return kind === 'reseller' ? { kind, secrets: [DESTINATION_SECRET] } : { kind, password: String(made.password) }
}

/** Posts the events of an account to ingress, as the provider does: late, twice, out of order, and again until it is accepted. */
class Poster {
  readonly #parts: AccountParts
  readonly #kind: ProviderKind
  readonly #connectionId: string
  readonly #credential: Credential
  #isLosing = false

  constructor(parts: AccountParts, kind: ProviderKind, connectionId: string, credential: Credential) {
    this.#parts = parts
    this.#kind = kind
    this.#connectionId = connectionId
    this.#credential = credential
  }

  follow(account: EventSource<Event>): void {
    const wanted = new Set(EVENTS_TO_TICK[this.#kind])
    account.onEvent(event => {
      if (!wanted.has(nameOf(event).type)) return
      account.notePosting(event, 'succeeded')
      if (!this.#isLosing) this.#notify(event)
    })
  }

  /** Loses the events that a function causes. The provider counts them as delivered. */
  losing<T>(act: () => T): T {
    this.#isLosing = true
    try {
      return act()
    } finally {
      this.#isLosing = false
    }
  }

  #notify(event: Event): void {
    const { random, scheduler, swarm } = this.#parts
    const { repeats, delayMs } = swarm()
    const copies = random.chance(repeats) ? 2 : 1
    for (let copy = 0; copy < copies; copy += 1) {
      scheduler.schedule(delayMs === 0 ? 0 : random.between(0, delayMs), () => this.#post(event, 0))
    }
  }

  async #post(event: Event, attempt: number): Promise<void> {
    const { cluster, scheduler } = this.#parts
    const body = bytesOf(event)
    const headers = {
      host: 'in.example.com',
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...credentialHeaders(this.#credential, body, scheduler.now),
    }
    const path = `/v1/webhooks/${this.#kind}/${this.#connectionId}`
    const answer = await cluster.request('ingress', { method: 'POST', path, headers, body }, ANSWER_WITHIN_MS)
    if (answer !== undefined && isAccepted(this.#kind, answer.status)) {
      this.#parts.truth.accepted.push({ connectionId: this.#connectionId, eventId: nameOf(event).id })
      return
    }
    const pauseMs = REPEAT_AFTER_MS[Math.min(attempt, REPEAT_AFTER_MS.length - 1)]!
    scheduler.schedule(pauseMs, () => this.#post(event, attempt + 1))
  }
}
