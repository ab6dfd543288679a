/** An account at the wallet and its API, on the frame that the simulator has for every provider's. */
import {
  type ApiCall,
  ApiRefusal,
  createObjectHistory,
  type Dialect,
  type ObjectHistory,
  startProviderApi,
} from '@backstop/simulator'
import type { OpenWorld } from './read-back/test-accounts.ts'

interface Entry {
  readonly id: string
  /** Seconds since the epoch. */
  readonly changed: number
  readonly payment?: string
}
type Shelves = Readonly<Record<string, ObjectHistory<Entry>>>

const PAGE_SIZE = 50
/** A little more than its reader allows itself. */
const RATE_LIMITS = [{ calls: 120, perMs: 60_000, of: 'account' as const }]

export const openWallet: OpenWorld = async (readKey, now) => {
  const seconds = () => Math.floor(now() / 1000)
  const shelves = {
    returns: createObjectHistory<Entry>(now),
    plans: createObjectHistory<Entry>(now),
    events: createObjectHistory<Entry>(now),
  }
  const told: { id: string; type: string }[] = []
  let made = 0
  const newId = (prefix: string) => `${prefix}_${++made}`
  const tell = (event: string, more: object) => {
    const id = newId('evt')
    shelves.events.put({ id, event, at: seconds(), changed: seconds(), ...more } as Entry)
    told.push({ id, type: event })
  }
  const change = (id: string, fields: object) => {
    const plan = { ends: null, ...shelves.plans.get(id), id, ...fields, changed: seconds() }
    tell('plan.changed', { plan: shelves.plans.put(plan) })
  }
  return {
    api: await startProviderApi(dialectOf(shelves), { readKeys: [readKey], now, rateLimits: RATE_LIMITS }),
    refund() {
      const [refundId, paymentId] = [newId('ret'), newId('pay')]
      const amount = { cents: 100, currency: 'EUR' }
      const refund = { id: refundId, payment: paymentId, ...amount, made: seconds(), paid: false, changed: seconds() }
      tell('return.made', { return: shelves.returns.put(refund) })
      return { refundId, paymentId }
    },
    subscribe() {
      const id = newId('plan')
      change(id, { state: 'running' })
      return id
    },
    cancel: id => change(id, { state: 'ended', ends: seconds() }),
    cancelLater: id => change(id, { ends: seconds() + 86_400 }),
    pause: id => change(id, { state: 'paused' }),
    change: id => change(id, { seats: 2 }),
    events: () => told,
  }
}

const refusal = (status: number, problem: string, headers = {}) => new ApiRefusal(status, problem, { problem }, headers)

function dialectOf(shelves: Shelves): Dialect {
  return {
    requestId: () => 'req_1',
    keyOf: authorization => /^Bearer (\S+)$/.exec(authorization ?? '')?.[1],
    answer: call => answerCall(shelves, call),
    refusals: {
      keyMissing: () => refusal(401, 'no_key'),
      keyUnknown: () => refusal(401, 'no_such_key'),
      keyMayOnlyRead: () => refusal(403, 'not_for_you'),
      tooLarge: () => refusal(400, 'too_large'),
      missing: () => refusal(404, 'no_such_object'),
      rateLimited: retryAfterS => refusal(429, 'slow_down', { 'retry-after': String(retryAfterS) }),
      failing: status => refusal(status, 'broken'),
    },
    headers: () => ({}),
  }
}

/** `/<things>/<id>`, or a page of `/<things>`, what changed last first. */
function answerCall(shelves: Shelves, { path, query, readAtMs }: ApiCall): object {
  const [, name = '', id] = path.split('/')
  const history = shelves[name]?.asOf(readAtMs)
  if (history === undefined) throw refusal(404, 'no_such_page')
  if (id !== undefined) return history.get(id) ?? raise(refusal(404, 'no_such_object'))
  const payment = query.get('payment')
  const items = history
    .all()
    .filter(item => item.changed >= Number(query.get('since')) && (payment === null || item.payment === payment))
    .reverse()
    .sort((a, b) => b.changed - a.changed)
  const after = query.get('after')
  const from = after === null ? 0 : items.findIndex(item => item.id === after) + 1
  if (after !== null && from === 0) throw refusal(400, 'no_such_place')
  const page = items.slice(from, from + PAGE_SIZE)
  const isLast = from + PAGE_SIZE >= items.length
  return { [name]: page, next: isLast ? null : page.at(-1)?.id }
}

function raise(error: Error): never {
  throw error
}
