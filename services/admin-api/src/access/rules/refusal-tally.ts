import type { AuditDocument, ErrorCode } from '@backstop/contracts'

/** The refused caller: a known key, or a stranger, of whom only the network and the beginning of the key are known. */
export type RefusedActor =
  | { readonly kind: 'key'; readonly keyId: string }
  /** @param network the IPv4 address, or the /64 of an IPv6 address, which belongs to one customer */
  | { readonly kind: 'stranger'; readonly network: string; readonly keyHint: string | null }

/** One refused request. */
export interface Refusal {
  readonly actor: RefusedActor
  readonly code: ErrorCode
  /** The operationId of the route, or the requested path or 'none' if the request reached no route. */
  readonly operation: string
  /** The project that the key is bound to. */
  readonly projectId: string | null
  readonly requestId: string
  readonly address: string | null
  readonly atMs: number
  /** Id of the audit row, if this refusal begins a new row. */
  readonly rowId: string
}

/**
 * The most audit rows of unknown callers that are created in one minute. The further refusals of that minute share one more
 * row, so a flood creates a limited number of rows.
 */
const MAX_STRANGER_ROWS = 20
const MAX_KEY_ROWS = 500
/** Rows that are kept in memory while the database is unavailable. */
const MAX_ROWS = 2_000
const MAX_LISTED_OPERATIONS = 10
const MINUTE_MS = 60_000

interface Entry {
  row: AuditDocument & { count: number; operations: string[] }
  readonly minute: number
  readonly group: RefusedActor['kind'] | 'others'
  isStored: boolean
}

/** Counts refusals: one audit row for each minute, actor and code. */
export class RefusalTally {
  readonly #entries = new Map<string, Entry>()

  add(refusal: Refusal): void {
    const minute = Math.floor(refusal.atMs / MINUTE_MS)
    const key = `${minute} ${actorKey(refusal.actor)} ${refusal.code}`
    const known = this.#entries.get(key)
    if (known !== undefined) countRefusal(known, refusal)
    else if (this.#mayBeginRow(minute, refusal.actor.kind)) this.#beginRow(key, minute, refusal.actor.kind, refusal)
    else this.#addToOverflowRow(minute, refusal)
  }

  /** Returns the rows that changed since they were last stored. */
  unstored(): AuditDocument[] {
    return [...this.#entries.values()].filter(entry => !entry.isStored).map(entry => structuredClone(entry.row))
  }

  /** Marks a row of `unstored` as stored, unless it has changed meanwhile. */
  markStored({ _id, count }: AuditDocument): void {
    for (const entry of this.#entries.values()) {
      if (entry.row._id === _id) entry.isStored = entry.row.count === count
    }
  }

  /** Evicts the stored rows of past minutes. */
  evictEnded(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    for (const [key, entry] of this.#entries) {
      if (entry.isStored && entry.minute < minute) this.#entries.delete(key)
    }
  }

  #mayBeginRow(minute: number, group: RefusedActor['kind']): boolean {
    if (this.#entries.size >= MAX_ROWS) return false
    let begun = 0
    for (const entry of this.#entries.values()) if (entry.minute === minute && entry.group === group) begun++
    return begun < (group === 'key' ? MAX_KEY_ROWS : MAX_STRANGER_ROWS)
  }

  #beginRow(key: string, minute: number, group: Entry['group'], refusal: Refusal): void {
    const { actor, code, operation, projectId, requestId, address, atMs, rowId } = refusal
    const at = new Date(atMs)
    const isOthers = group === 'others'
    this.#entries.set(key, {
      minute,
      group,
      isStored: false,
      row: {
        _id: rowId,
        at,
        last_at: at,
        key_id: !isOthers && actor.kind === 'key' ? actor.keyId : null,
        key_hint: !isOthers && actor.kind === 'stranger' ? actor.keyHint : null,
        action: isOthers ? 'refused.others' : `refused.${code}`,
        target: operation,
        operations: [operation],
        count: 1,
        project_id: isOthers ? null : projectId,
        request_id: requestId,
        address: isOthers ? null : address,
      },
    })
  }

  #addToOverflowRow(minute: number, refusal: Refusal): void {
    const key = `${minute} others`
    const known = this.#entries.get(key)
    if (known === undefined) this.#beginRow(key, minute, 'others', refusal)
    else countRefusal(known, refusal)
  }
}

function countRefusal(entry: Entry, { operation, atMs }: Refusal): void {
  const { row } = entry
  row.count++
  row.last_at = new Date(atMs)
  if (row.operations.length < MAX_LISTED_OPERATIONS && !row.operations.includes(operation))
    row.operations.push(operation)
  entry.isStored = false
}

function actorKey(actor: RefusedActor): string {
  return actor.kind === 'key' ? `key ${actor.keyId}` : `stranger ${actor.network} ${actor.keyHint ?? ''}`
}
