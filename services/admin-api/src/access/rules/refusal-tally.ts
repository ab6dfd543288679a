import type { AuditDocument, ErrorCode } from '@backstop/contracts'

/** The refused caller: a known key or person, or a stranger, of whom only the network and the beginning of the key are known. */
export type RefusedActor =
  /** @param isAuthenticated false if the key, session or person was not accepted, for example because it is revoked */
  | {
      readonly kind: 'key' | 'person'
      readonly id: string
      readonly name: string | null
      readonly isAuthenticated: boolean
    }
  /** @param network the IPv4 address, or the /64 of an IPv6 address, which belongs to one customer */
  | { readonly kind: 'stranger'; readonly network: string; readonly keyHint: string | null }

/** One refused request. */
export interface CountedRefusal {
  readonly actor: RefusedActor
  readonly code: ErrorCode
  /** The operationId of the route, or the requested path or 'none' if the request reached no route. */
  readonly operation: string
  /** The only project of the key or person. */
  readonly projectId: string | null
  readonly requestId: string
  readonly address: string | null
  readonly atMs: number
  /** Id of the audit row, if this refusal begins a new row. */
  readonly rowId: string
}

/** The refusals of one authenticated key or person in one minute that have a row each. The further ones share a row for each code. */
const MAX_SINGLE_ROWS_PER_ACTOR = 60
/**
 * The most audit rows that are begun in one minute. The refusals beyond these limits share one more row, so a flood creates a limited
 * number of rows.
 */
const MAX_ROWS_PER_MINUTE = {
  /** One refusal of an authenticated caller. */
  single: 1_000,
  /** Refusals of one key or person with one code. */
  known: 500,
  /** Refusals of one unknown caller with one code. */
  stranger: 20,
  /** All further refusals of the minute. */
  others: 1,
} as const
type Group = keyof typeof MAX_ROWS_PER_MINUTE
/** Rows that are kept in memory while the database is unavailable. */
const MAX_ROWS = 2_000
/** The part of them that single refusals may use, so that there is room for rows that stand for many. */
const MAX_SINGLE_ROWS = 1_000
const MAX_LISTED_OPERATIONS = 10
const MINUTE_MS = 60_000

interface Entry {
  row: AuditDocument & { count: number; operations: string[] }
  readonly minute: number
  readonly group: Group
  isStored: boolean
}

/** The rows that one minute began. */
interface BegunRows {
  readonly ofGroup: Map<Group, number>
  readonly singleOfActor: Map<string, number>
}

/**
 * Collects refusals as audit rows. A refusal of an authenticated caller has a row of its own, up to a limit. All others share one row for
 * each minute, actor and code: whoever has no accepted key must not be able to fill the database.
 */
export class RefusalTally {
  readonly #entries = new Map<string, Entry>()
  readonly #begun = new Map<number, BegunRows>()

  add(refusal: CountedRefusal): void {
    const minute = Math.floor(refusal.atMs / MINUTE_MS)
    const { actor } = refusal
    if (this.#mayBeginSingle(minute, actor)) {
      this.#beginRow(refusal.rowId, minute, 'single', refusal)
      return
    }
    const shared = actor.kind === 'stranger' ? 'stranger' : 'known'
    const key = `${minute} ${actorKey(actor)} ${refusal.code}`
    const known = this.#entries.get(key)
    if (known !== undefined) countRefusal(known, refusal)
    else if (this.#mayBegin(minute, shared)) this.#beginRow(key, minute, shared, refusal)
    else this.#addToOverflowRow(minute, refusal)
  }

  /** Returns the rows that changed since they were last stored. */
  unstored(): AuditDocument[] {
    return [...this.#entries.values()].filter(entry => !entry.isStored).map(entry => structuredClone(entry.row))
  }

  /** Marks rows of `unstored` as stored, except for those that have changed meanwhile. */
  markStored(rows: readonly AuditDocument[]): void {
    const counts = new Map(rows.map(({ _id, count }) => [_id, count]))
    for (const [key, entry] of this.#entries) {
      if (counts.get(entry.row._id) !== entry.row.count) continue
      if (entry.group === 'single') this.#entries.delete(key)
      else entry.isStored = true
    }
  }

  /** Evicts the stored rows of past minutes. */
  evictEnded(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    for (const [key, entry] of this.#entries) {
      if (entry.isStored && entry.minute < minute) this.#entries.delete(key)
    }
    for (const past of this.#begun.keys()) if (past < minute) this.#begun.delete(past)
  }

  #mayBeginSingle(minute: number, actor: RefusedActor): boolean {
    if (actor.kind === 'stranger' || !actor.isAuthenticated || this.#entries.size >= MAX_SINGLE_ROWS) return false
    const ofActor = this.#begun.get(minute)?.singleOfActor.get(actorKey(actor)) ?? 0
    return ofActor < MAX_SINGLE_ROWS_PER_ACTOR && this.#mayBegin(minute, 'single')
  }

  #mayBegin(minute: number, group: Group): boolean {
    if (this.#entries.size >= MAX_ROWS) return false
    return (this.#begun.get(minute)?.ofGroup.get(group) ?? 0) < MAX_ROWS_PER_MINUTE[group]
  }

  #beginRow(key: string, minute: number, group: Group, refusal: CountedRefusal): void {
    this.#entries.set(key, { minute, group, isStored: false, row: rowOf(refusal, group === 'others') })
    const begun = this.#begun.get(minute) ?? { ofGroup: new Map(), singleOfActor: new Map() }
    this.#begun.set(minute, begun)
    increment(begun.ofGroup, group)
    if (group === 'single') increment(begun.singleOfActor, actorKey(refusal.actor))
  }

  #addToOverflowRow(minute: number, refusal: CountedRefusal): void {
    const key = `${minute} others`
    const known = this.#entries.get(key)
    if (known === undefined) this.#beginRow(key, minute, 'others', refusal)
    else countRefusal(known, refusal)
  }
}

/** The row that a refusal begins. */
function rowOf(refusal: CountedRefusal, isOthers: boolean): Entry['row'] {
  const { actor, code, operation, projectId, requestId, address, atMs, rowId } = refusal
  const at = new Date(atMs)
  return {
    _id: rowId,
    at,
    last_at: at,
    key_id: !isOthers && actor.kind === 'key' ? actor.id : null,
    actor: isOthers || actor.kind === 'stranger' ? null : { kind: actor.kind, id: actor.id, name: actor.name },
    key_hint: !isOthers && actor.kind === 'stranger' ? actor.keyHint : null,
    action: isOthers ? 'refused.others' : `refused.${code}`,
    target: operation,
    operations: [operation],
    count: 1,
    project_id: isOthers ? null : projectId,
    request_id: requestId,
    address: isOthers ? null : address,
  }
}

function countRefusal(entry: Entry, { operation, atMs }: CountedRefusal): void {
  const { row } = entry
  row.count++
  row.last_at = new Date(atMs)
  if (row.operations.length < MAX_LISTED_OPERATIONS && !row.operations.includes(operation))
    row.operations.push(operation)
  entry.isStored = false
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function actorKey(actor: RefusedActor): string {
  return actor.kind === 'stranger' ? `stranger ${actor.network} ${actor.keyHint ?? ''}` : `${actor.kind} ${actor.id}`
}
