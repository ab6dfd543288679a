import { createHash, randomBytes } from 'node:crypto'
import { deterministicId, deterministicOrderedId, type IdKind, newId, newOrderedId } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Collection } from '../store/collection.ts'
import type { IdempotencyDocument } from '../store/stores.ts'
import type { RouteAnswer, RouteRequest } from './route.ts'

/** How long a request holds the lock on its Idempotency-Key, in milliseconds. Longer than any request takes. */
const LOCK_MS = 60_000
const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  /** The value of the Idempotency-Key header. */
  readonly key: string
  /** The calling API key. Two callers may use the same Idempotency-Key without conflict. */
  readonly callerId: string
  /** Method, path and body. The same Idempotency-Key with other content is refused. */
  readonly content: readonly string[]
  readonly now: Date
  /** Fields of the answer that are never stored, because they are secrets. */
  readonly shownOnce: readonly string[]
}

/** Runs the route. `newId` returns the same ids in a repeat, and `decideOnce` the decision of the first attempt. */
export type IdempotentWork = (
  newId: (kind: IdKind) => string,
  decideOnce: RouteRequest<never, never, never>['decideOnce'],
) => Promise<RouteAnswer>

/**
 * Runs the work once for each Idempotency-Key within 24 hours, and answers a repeat with the stored answer, without the secrets that the
 * first answer showed. A refused request (4xx) frees its key. If a request failed with a server error or its process died, the next
 * repeat runs it again with the same ids, so it replaces the earlier result and creates nothing twice.
 */
export async function runOnce(
  keys: Collection<IdempotencyDocument>,
  secretBox: SecretBox,
  request: IdempotentRequest,
  work: IdempotentWork,
): Promise<RouteAnswer> {
  const entry = await claim(keys, secretBox, request)
  if (entry.kind === 'answered') return entry.answer
  const { document } = entry
  let made = 0
  const decideOnce = async <T extends object>(decide: () => Promise<T>): Promise<T> => {
    if (document.decided !== undefined) return JSON.parse(document.decided)
    const decided = await decide()
    await keys.change({ _id: document._id, seed: document.seed }, { decided: JSON.stringify(decided) })
    return decided
  }
  try {
    const makeId = (kind: IdKind) => {
      const parts = [document.seed, String(made++)]
      return kind === 'operation'
        ? deterministicOrderedId(kind, document.created_at.getTime(), ...parts)
        : deterministicId(kind, ...parts)
    }
    const answer = await work(makeId, decideOnce)
    const stored = { status: answer.status, body: JSON.stringify(withoutSecrets(answer.body, request.shownOnce)) }
    await keys.change({ _id: document._id, seed: document.seed }, { answer: stored })
    return answer
  } catch (error) {
    const isRefusal = error instanceof AppError && error.status < 500
    await (isRefusal
      ? keys.remove({ _id: document._id, seed: document.seed })
      : keys.change({ _id: document._id, seed: document.seed }, { locked_until: request.now })
    ).catch(() => {
      // If the database is unavailable, the lock expires by time. The caller gets the first error.
    })
    throw error
  }
}

type Claim = { kind: 'ours'; document: IdempotencyDocument } | { kind: 'answered'; answer: RouteAnswer }

async function claim(
  keys: Collection<IdempotencyDocument>,
  secretBox: SecretBox,
  request: IdempotentRequest,
): Promise<Claim> {
  const { key, callerId, now } = request
  if (!IDEMPOTENCY_KEY_PATTERN.test(key)) {
    throw new AppError('invalid_request', 'Idempotency-Key: use 1 to 255 printable ASCII characters without spaces')
  }
  // A keyed hash, because the body may hold a secret that is short enough to be guessed from a plain hash.
  const digest = createHash('sha256').update(JSON.stringify(request.content)).digest('hex')
  const document: IdempotencyDocument = {
    _id: `${callerId}/${key}`,
    fingerprint: secretBox.fingerprint(new Secret(digest)),
    seed: randomBytes(16).toString('hex'),
    locked_until: new Date(now.getTime() + LOCK_MS),
    answer: null,
    created_at: now,
  }
  if (await keys.insert(document)) return { kind: 'ours', document }
  const there = await keys.find({ _id: document._id })
  if (there !== undefined && there.fingerprint !== document.fingerprint) {
    throw new AppError('idempotency_conflict', 'This Idempotency-Key was used for a different request; use a new key')
  }
  if (there?.answer != null) {
    const body = JSON.parse(there.answer.body)
    return {
      kind: 'answered',
      answer: { status: there.answer.status, body, headers: { 'idempotency-replayed': 'true' } },
    }
  }
  if (there !== undefined && there.locked_until.getTime() <= now.getTime()) {
    const place = { _id: there._id, seed: there.seed, locked_until: there.locked_until, answer: null }
    const taken = await keys.change(place, { locked_until: document.locked_until })
    if (taken !== undefined) return { kind: 'ours', document: taken }
  }
  throw new AppError('conflict', 'A request with this Idempotency-Key is in progress; retry later', {
    retryable: true,
  })
}

function withoutSecrets(body: unknown, shownOnce: readonly string[]): unknown {
  if (body === undefined) return null
  return Object.fromEntries(Object.entries(body as object).filter(([field]) => !shownOnce.includes(field)))
}

/** Makes ids for a request without an Idempotency-Key. Operations are many, so their ids begin with the time. */
export function randomIds(now: Date): (kind: IdKind) => string {
  return kind => (kind === 'operation' ? newOrderedId(kind, now.getTime()) : newId(kind))
}
