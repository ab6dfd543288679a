/** An account at the wallet, the fourth provider, with an API that is built from the simulator's parts. */
import {
  type ApiCall,
  ApiRefusal,
  createObjectHistory,
  type Dialect,
  type ObjectHistory,
  startProviderApi,
} from '@backstop/simulator'
import type { OpenTestAccount } from './read-back/test-accounts.ts'

/** A return, a plan or an event of the wallet. */
interface WalletObject {
  readonly id: string
  /** The time of the last change in seconds since the epoch. */
  readonly changed: number
  readonly payment?: string
}
type WalletObjects = Readonly<Record<string, ObjectHistory<WalletObject>>>

const PAGE_SIZE = 50
/** A little more than the rate that the wallet's reader keeps. */
const RATE_LIMITS = [{ calls: 120, perMs: 60_000, of: 'account' as const }]

export const openWalletAccount: OpenTestAccount = async (readKey, now) => {
  const seconds = () => Math.floor(now() / 1000)
  const objects = {
    returns: createObjectHistory<WalletObject>(now),
    plans: createObjectHistory<WalletObject>(now),
    events: createObjectHistory<WalletObject>(now),
  }
  const events: { id: string; type: string }[] = []
  let made = 0
  const newId = (prefix: string) => `${prefix}_${++made}`
  const emit = (event: string, more: object) => {
    const id = newId('evt')
    objects.events.put({ id, event, at: seconds(), changed: seconds(), ...more } as WalletObject)
    events.push({ id, type: event })
  }
  const change = (id: string, fields: object) => {
    const plan = { ends: null, ...objects.plans.get(id), id, ...fields, changed: seconds() }
    emit('plan.changed', { plan: objects.plans.put(plan) })
  }
  return {
    api: await startProviderApi(dialectOf(objects), { readKeys: [readKey], now, rateLimits: RATE_LIMITS }),
    refund() {
      const [refundId, paymentId] = [newId('ret'), newId('pay')]
      const amount = { cents: 100, currency: 'EUR' }
      const refund = { id: refundId, payment: paymentId, ...amount, made: seconds(), paid: false, changed: seconds() }
      emit('return.made', { return: objects.returns.put(refund) })
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
    events: () => events,
  }
}

const refusal = (status: number, problem: string, headers = {}) => new ApiRefusal(status, problem, { problem }, headers)

function dialectOf(objects: WalletObjects): Dialect {
  return {
    requestId: () => 'req_1',
    keyOf: authorization => /^Bearer (\S+)$/.exec(authorization ?? '')?.[1],
    answer: call => answerCall(objects, call),
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

/** Answers `/<type>/<id>` with an object, and `/<type>` with a page of objects, last changed first. */
function answerCall(objects: WalletObjects, { path, query, readAtMs }: ApiCall): object {
  const [, name = '', id] = path.split('/')
  const history = objects[name]?.asOf(readAtMs)
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
