import type { ReadTarget } from '@backstop/contracts'
import type { ApiClient, ApiDialect, Budget } from '../../src/api/api-client.ts'
import { baseUrl } from '../../src/api/base-url.ts'
import { failed } from '../../src/api/failure.ts'
import type { FeedList } from '../../src/api/feeds.ts'
import { asType, type ProviderObject, readOne, readWhole } from '../../src/api/objects.ts'
import { foundAll, foundOne, type TargetResult } from '../../src/api/read-targets.ts'
import { openReader } from '../../src/api/reader.ts'
import { fieldAt } from '../../src/event-fields.ts'
import type { ReadBack } from '../../src/read-back.ts'
import { fieldsOf } from '../../src/used-fields.ts'
import { Return } from './normalise.ts'
import { Plan } from './plan.ts'

const USED_FIELDS = { return: fieldsOf(Return), plan: fieldsOf(Plan) }

const DIALECT: ApiDialect = {
  name: 'The wallet',
  headers: key => ({ authorization: `Bearer ${key.reveal()}` }),
  codeOf: body => fieldAt(body, 'problem'),
  missingCodes: new Set(['no_such_object']),
  notNowCodes: new Set(['busy']),
  objectIn: body => body,
  pageQuery: page => ({ after: page }),
  pageIn: (body, type) => ({ items: body[`${type}s`], next: body.next }),
}

export const readBack: ReadBack = {
  limits: { requestsPerMinute: 100, concurrent: 2 },
  apiHosts: ['api.wallet.example'],

  targetsOf({ action, providerRef, objectIds: [objectId] }) {
    if (action === 'cancellation') {
      const id = objectId ?? providerRef
      return id === null ? [] : [{ type: 'subscription', id }]
    }
    if (providerRef !== null) return [{ type: 'refund', id: providerRef }]
    return objectId === undefined ? [] : [{ type: 'refunds_of_payment', id: objectId }]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? 'https://api.wallet.example')
    const parts = { dialect: DIALECT, limits: readBack.limits, base, readTarget, used: USED_FIELDS }
    const changes = [changed('return'), changed('plan'), EVENTS]
    return openReader({ ...parts, changes, schedules: [SCHEDULES] }, options)
  },
}

async function readTarget(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<TargetResult> {
  switch (type) {
    case 'refund':
      return readObject(client, 'return', id, budget)
    case 'subscription':
      return readObject(client, 'plan', id, budget)
    case 'refunds_of_payment': {
      const list = { type: 'return', path: '/returns', query: { payment: id } }
      return foundAll('return', await readWhole(client, list, budget))
    }
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

async function readObject(
  client: ApiClient,
  type: 'return' | 'plan',
  id: string,
  budget: Budget,
): Promise<TargetResult> {
  return foundOne(type, await readOne(client, type, `/${type}s`, id, budget))
}

function changed(type: 'return' | 'plan'): FeedList {
  return {
    name: `${type}s`,
    list: from => ({ type, path: `/${type}s`, query: { since: seconds(from) } }),
    objects: items => items.map(asType(type)),
  }
}

/** The feed of events, without objects: the other feeds have the present objects. */
const EVENTS: FeedList = {
  name: 'events',
  list: from => ({ type: 'event', path: '/events', query: { since: seconds(from) } }),
  eventOf: ({ id, event, at }) =>
    typeof event === 'string' && typeof at === 'number'
      ? { eventId: id, eventType: event, createdAt: at * 1000 }
      : undefined,
  objects: () => [],
}

const SCHEDULES: FeedList = {
  name: 'schedules',
  list: () => ({ type: 'plan', path: '/plans', query: {} }),
  objects: items => items.filter(hasSchedule).map(asType('plan')),
}

function hasSchedule({ state, ends }: ProviderObject): boolean {
  return state === 'paused' || (state !== 'ended' && ends !== null)
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
