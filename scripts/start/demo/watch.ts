/** Prints the verdicts, incidents, posted events and deliveries of the demo's project. */
import type { Action, Incident } from '@backstop/contracts'
import type { PostAttempt, ReceivedDelivery } from '@backstop/simulator'
import { type ManagementApi, reasonIn } from '../management-api.ts'
import type { DemoSetup } from './demo-setup.ts'
import type { FactPrinter } from './fact-printer.ts'
import { describeCountdown, describeVerdict } from './verdict-lines.ts'

export interface DemoWatch {
  /** Resolves with the time in milliseconds since the epoch at which the alert about this refund arrived. */
  alertAbout(refundId: string): Promise<number>
  stop(): void
}

const POLL_MS = 400
/** After a posted event the API is polled every POLL_MS for this time. */
const BUSY_MS = 10_000
/** The poll interval when nothing happens. It is long, because each poll is a line in the log of admin-api. */
const IDLE_POLL_MS = 2_000

/** Prints changes until stop(). Actions that have a verdict at the start are skipped. */
export async function watchDemo(setup: DemoSetup, api: ManagementApi, printer: FactPrinter): Promise<DemoWatch> {
  const known = new Map<string, Action['verdict']>()
  const alerted = new Map<string, number>()
  const waiting = new Map<string, (atMs: number) => void>()
  let trouble: string | undefined
  let busyUntilMs = Date.now() + BUSY_MS
  let polledAtMs = 0

  function isPollDue(): boolean {
    const busy = Date.now() < busyUntilMs || [...known.values()].includes('pending')
    return busy || Date.now() - polledAtMs >= IDLE_POLL_MS
  }

  async function readActions(): Promise<Action[]> {
    const list = await api.get<{ data: Action[] }>(`/v1/actions?connection_id=${setup.record.connection_id}&limit=20`)
    return list.data
  }

  // Polls run one after the other, because two simultaneous polls would print a verdict twice.
  let lastPoll: Promise<void> = Promise.resolve()
  function poll(): Promise<void> {
    lastPoll = lastPoll.catch(() => {}).then(pollOnce)
    return lastPoll
  }

  async function pollOnce(): Promise<void> {
    polledAtMs = Date.now()
    const actions = await readActions()
    for (const action of actions.toReversed()) {
      const line = describeVerdict(action, known.get(action.action_id), Date.now())
      known.set(action.action_id, action.verdict)
      if (line === undefined) continue
      printer.fact(line.word, line.text)
      if (action.verdict === 'unexplained' && action.incident_id !== null) await printIncident(action.incident_id)
    }
    printer.status(describeCountdown(actions, Date.now()))
  }

  async function printIncident(id: string): Promise<void> {
    const incident = await api.get<Incident>(`/v1/incidents/${id}`)
    printer.fact('incident', `${incident.incident_id} ${incident.code}: ${incident.summary}`)
  }

  async function printDelivery(delivery: ReceivedDelivery): Promise<void> {
    // Poll first, so that the verdict is printed before its delivery.
    await poll().catch(() => {})
    const { event, data } = (delivery.body ?? {}) as { event?: string; data?: { action?: Action } }
    const signatures = `X-Service-Signature ${delivery.serviceSignature}, webhook-signature ${delivery.standardWebhook}`
    const refundId = data?.action?.provider_ref
    const about = refundId ? ` about ${refundId}` : ''
    printer.fact('delivered', `${event ?? 'something'} to ${setup.receiver.url}${delivery.path}${about}: ${signatures}`)
    if (event !== 'incident.opened' || !refundId) return
    alerted.set(refundId, delivery.receivedAtMs)
    waiting.get(refundId)?.(delivery.receivedAtMs)
  }

  for (const action of await readActions())
    if (action.verdict !== 'pending') known.set(action.action_id, action.verdict)
  const endings = [
    setup.endpoint.onAttempt(attempt => {
      busyUntilMs = Date.now() + BUSY_MS
      printAttempt(attempt, printer)
    }),
    setup.receiver.onDelivery(delivery => void printDelivery(delivery)),
  ]
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const loop = async () => {
    try {
      if (isPollDue()) {
        await poll()
        trouble = undefined
      }
    } catch (error) {
      // The API may be unavailable, e.g. while admin-api restarts. A repeated error is printed once.
      const text = error instanceof Error ? error.message : String(error)
      if (text !== trouble && !stopped) printer.fact('trouble', text)
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
      printer.status(undefined)
    },
  }
}

function printAttempt(attempt: PostAttempt, printer: FactPrinter): void {
  const what = `${attempt.eventType} ${attempt.eventId}`
  if (attempt.status === null) {
    printer.fact('no answer', `${what}: ${attempt.answer}; the processor tries again`)
  } else if (attempt.status < 300) {
    printer.fact('accepted', `${what}: ingress answered ${attempt.status}`)
  } else {
    const reason = reasonIn(attempt.answer)
    printer.fact('refused', `${what}: ingress answered ${attempt.status}: ${reason}; the processor tries again`)
  }
}
