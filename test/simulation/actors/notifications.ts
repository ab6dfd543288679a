import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { ProviderKind } from '@backstop/contracts'
import { bytesOf, type Credential, createChance, credentialHeaders, type EventSource } from '@backstop/simulator'
import { withFalseValues } from '../../../packages/simulator/src/biller/false-values.ts'
import {
  formsOf,
  isAccepted,
  nameOf,
  type Payload,
  type ProviderEvents,
} from '../../../packages/simulator/src/posting/provider-event.ts'
import type { Random } from '../world/random.ts'
import type { World } from './world.ts'

const ANSWER_WITHIN_MS = 20_000
/** Pauses before a provider posts a notification again, in milliseconds. The real ones go on for three days. */
const REPEAT_AFTER_MS = [2_000, 10_000, 30_000, 60_000] as const

export type ProviderEvent = ProviderEvents[ProviderKind]
/** What is posted of an event: the event, or its thin form. */
type Form = ReturnType<typeof formsOf>[number]

/** The endpoint that is set up at the provider. It changes when an account is connected again or its secret is rotated. */
export interface Endpoint {
  connectionId: string
  credential: Credential
}

/** Posts the events of an account to ingress, as the provider does: late, twice, out of order, and again until it is accepted. */
export class Notifications {
  readonly #world: World
  readonly #random: Random
  readonly #kind: ProviderKind
  readonly #endpoint: () => Endpoint
  readonly #payload: Payload
  #isLosing = false
  #isRemoved = false

  constructor(world: World, random: Random, kind: ProviderKind, endpoint: () => Endpoint, payload: Payload) {
    this.#payload = payload
    this.#world = world
    this.#random = random
    this.#kind = kind
    this.#endpoint = endpoint
  }

  /** True if the provider sends only notifications without their object. */
  get areThin(): boolean {
    return this.#payload === 'thin'
  }

  follow(account: EventSource<ProviderEvent>): void {
    const wanted = new Set(EVENTS_TO_TICK[this.#kind])
    account.onEvent(event => {
      if (!wanted.has(nameOf(event).type)) return
      account.notePosting(event, 'succeeded')
      if (this.#isLosing) return
      for (const form of formsOf(event, this.#payload)) this.#notify(form)
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

  /** Removes the endpoint at the provider. Notifications that ingress has not accepted are not sent again. */
  removeEndpoint(): void {
    this.#isRemoved = true
  }

  #notify(event: Form): void {
    const { clock, swarm, happened } = this.#world
    if ('related_object' in event) happened('a notification was thin')
    const random = this.#random
    const { repeats, delayMs, falseValues } = swarm()
    const isRepeated = random.chance(repeats)
    if (isRepeated) happened('a notification was sent twice')
    const isFalse = this.#kind === 'subscription' && random.chance(falseValues)
    if (isFalse) happened('a notification had false values')
    const sent = isFalse ? withFalseValues(event as never, createChance(random.between(0, 2 ** 31))) : event
    for (let copy = 0; copy < (isRepeated ? 2 : 1); copy += 1) {
      const lateMs = delayMs === 0 ? 0 : random.between(0, delayMs)
      if (lateMs > 60_000) happened('a notification came after its second look was due')
      clock.schedule(lateMs, () => this.#post(sent, 0))
    }
  }

  /** Posts the events of an account once, as somebody does who does not know the secret. Ingress must refuse them. */
  forge(account: EventSource<ProviderEvent>, credential: Credential): void {
    const { truth, happened } = this.#world
    account.onEvent(async event => {
      happened('a forged notification')
      const answer = await this.#send(event, credential)
      if (answer !== undefined && isAccepted(this.#kind, answer.status))
        truth.wrongs.push(`The forged notification ${nameOf(event).id} is answered ${answer.status}`)
    })
  }

  async #post(event: Form, attempt: number): Promise<void> {
    if (this.#isRemoved) return
    const { clock, truth } = this.#world
    const { connectionId, credential } = this.#endpoint()
    const answer = await this.#send(event, credential)
    if (answer !== undefined && isAccepted(this.#kind, answer.status)) {
      const latePaymentOf = latePaymentIn(event)
      truth.accepted.push({ connectionId, eventId: nameOf(event).id, atMs: clock.now, latePaymentOf })
      return
    }
    const pauseMs = REPEAT_AFTER_MS[Math.min(attempt, REPEAT_AFTER_MS.length - 1)]!
    clock.schedule(pauseMs, () => this.#post(event, attempt + 1))
  }

  #send(event: Form, credential: Credential) {
    const { cluster, clock } = this.#world
    const body = bytesOf(event)
    const headers = {
      host: 'in.example.com',
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...credentialHeaders(credential, body, clock.now),
    }
    const path = `/v1/webhooks/${this.#kind}/${this.#endpoint().connectionId}`
    return cluster.request('ingress', { method: 'POST', path, headers, body }, ANSWER_WITHIN_MS)
  }
}

/** The reseller's subscription whose payment an event shows as late. */
function latePaymentIn(event: Form): string | undefined {
  if (!('data' in event) || !('status' in event.data) || event.data.status !== 'past_due') return undefined
  return String(event.data.id)
}
