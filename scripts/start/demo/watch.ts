/** Prints what happens to the demo's refunds, from the API, the processor and the receiver. */
import type { Action, Incident } from '@backstop/contracts'
import type { PostAttempt, ReceivedDelivery } from '@backstop/simulator'
import { type ManagementApi, reasonIn } from '../management-api.ts'
import type { DemoWorld } from './demo-setup.ts'
import type { Stage } from './fact-printer.ts'
import { countdownOf, lineOf } from './verdict-lines.ts'

export interface Watch {
  /** Resolves with the time (milliseconds since the epoch) at which the alert about this refund arrived. */
  alertAbout(refundId: string): Promise<number>
  stop(): void
}

const POLL_MS = 400
/** For so long after an event was posted the API is polled often. */
const BUSY_MS = 10_000
/** Otherwise: each poll is a request, and a line in the log of admin-api. */
const IDLE_POLL_MS = 2_000

/** Watches until stop(). Actions that already have a verdict are skipped. */
export async function watchDemo(world: DemoWorld, api: ManagementApi, stage: Stage): Promise<Watch> {
  const known = new Map<string, Action['verdict']>()
  const alerted = new Map<string, number>()
  const waiting = new Map<string, (atMs: number) => void>()
  let trouble: string | undefined
  let busyUntilMs = Date.now() + BUSY_MS
  let lookedAtMs = 0

  function isLookDue(): boolean {
    const busy = Date.now() < busyUntilMs || [...known.values()].includes('pending')
    return busy || Date.now() - lookedAtMs >= IDLE_POLL_MS
  }

  async function readActions(): Promise<Action[]> {
    const list = await api.get<{ data: Action[] }>(`/v1/actions?connection_id=${world.record.connection_id}&limit=20`)
    return list.data
  }

  // One poll at a time: two at once would print the same verdict twice.
  let lastLook: Promise<void> = Promise.resolve()
  function look(): Promise<void> {
    lastLook = lastLook.catch(() => {}).then(lookOnce)
    return lastLook
  }

  async function lookOnce(): Promise<void> {
    lookedAtMs = Date.now()
    const actions = await readActions()
    for (const action of actions.toReversed()) {
      const line = lineOf(action, known.get(action.action_id), Date.now())
      known.set(action.action_id, action.verdict)
      if (line === undefined) continue
      stage.tell(line.word, line.text)
      if (action.verdict === 'unexplained' && action.incident_id !== null) await tellIncident(action.incident_id)
    }
    stage.live(countdownOf(actions, Date.now()))
  }

  async function tellIncident(id: string): Promise<void> {
    const incident = await api.get<Incident>(`/v1/incidents/${id}`)
    stage.tell('incident', `${incident.incident_id} ${incident.code}: ${incident.summary}`)
  }

  async function tellDelivery(delivery: ReceivedDelivery): Promise<void> {
    // Print the verdict that led to it first.
    await look().catch(() => {})
    const { event, data } = (delivery.body ?? {}) as { event?: string; data?: { action?: Action } }
    const signatures = `X-Service-Signature ${delivery.serviceSignature}, webhook-signature ${delivery.standardWebhook}`
    const refundId = data?.action?.provider_ref
    const about = refundId ? ` about ${refundId}` : ''
    stage.tell('delivered', `${event ?? 'something'} to ${world.receiver.url}${delivery.path}${about}: ${signatures}`)
    if (event !== 'incident.opened' || !refundId) return
    alerted.set(refundId, delivery.receivedAtMs)
    waiting.get(refundId)?.(delivery.receivedAtMs)
  }

  for (const action of await readActions())
    if (action.verdict !== 'pending') known.set(action.action_id, action.verdict)
  const endings = [
    world.endpoint.onAttempt(attempt => {
      busyUntilMs = Date.now() + BUSY_MS
      tellAttempt(attempt, stage)
    }),
    world.receiver.onDelivery(delivery => void tellDelivery(delivery)),
  ]
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const loop = async () => {
    try {
      if (isLookDue()) {
        await look()
        trouble = undefined
      }
    } catch (error) {
      // For example while admin-api restarts. The same error is printed once.
      const text = error instanceof Error ? error.message : String(error)
      if (text !== trouble && !stopped) stage.tell('trouble', text)
      trouble = text
    }
    if (!stopped) timer = setTimeout(() => void loop(), POLL_MS)
  }
  await loop()
  return {
    async alertAbout(refundId) {
      return alerted.get(refundId) ?? new Promise(resolve => waiting.set(refundId, resolve))
    },
    stop() {
      stopped = true
      clearTimeout(timer)
      for (const end of endings) end()
      stage.live(undefined)
    },
  }
}

function tellAttempt(attempt: PostAttempt, stage: Stage): void {
  const what = `${attempt.eventType} ${attempt.eventId}`
  if (attempt.status === null) {
    stage.tell('no answer', `${what}: ${attempt.answer}; the processor tries again`)
  } else if (attempt.status < 300) {
    stage.tell('accepted', `${what}: ingress answered ${attempt.status}`)
  } else {
    const reason = reasonIn(attempt.answer)
    stage.tell('refused', `${what}: ingress answered ${attempt.status}: ${reason}; the processor tries again`)
  }
}
