import type { AuditDocument, ErrorCode } from '@backstop/contracts'

/** Who was refused: a key that is known, or somebody of whom only the address and the beginning of a key are. */
export type RefusedActor =
  | { readonly kind: 'key'; readonly keyId: string }
  /** @param network what the address is counted by: all that one customer of a network has counts as one */
  | { readonly kind: 'stranger'; readonly network: string; readonly keyHint: string | null }

/** One refused request. */
export interface Refusal {
  readonly actor: RefusedActor
  readonly code: ErrorCode
  /** What was asked for: the operationId of the route, or what stands for it where no route was reached. */
  readonly operation: string
  /** The project that the key is bound to. */
  readonly projectId: string | null
  readonly requestId: string
  readonly address: string | null
  readonly atMs: number
  /** For the row, if this refusal begins one. */
  readonly rowId: string
}

/** Rows that may begin in one minute; what goes beyond is counted in one more. A flood makes as many rows and no more. */
const MOST_STRANGERS = 20
const MOST_KEYS = 500
/** Rows that are held while they cannot be stored. */
const MOST_HELD = 2_000
const MOST_OPERATIONS = 10
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
    const key = `${minute} ${nameOf(refusal.actor)} ${refusal.code}`
    const known = this.#entries.get(key)
    if (known !== undefined) count(known, refusal)
    else if (this.#hasRoom(minute, refusal.actor.kind)) this.#begin(key, minute, refusal.actor.kind, refusal)
    else this.#addToOthers(minute, refusal)
  }

  /** Rows that are not stored as they are now. */
  unstored(): AuditDocument[] {
    return [...this.#entries.values()].filter(entry => !entry.isStored).map(entry => structuredClone(entry.row))
  }

  /** A row was stored as it was given by `unstored`. */
  markStored({ _id, count }: AuditDocument): void {
    for (const entry of this.#entries.values()) {
      if (entry.row._id === _id) entry.isStored = entry.row.count === count
    }
  }

  /** Forgets what is stored and gains nothing any more. */
  forgetEnded(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS)
    for (const [key, entry] of this.#entries) {
      if (entry.isStored && entry.minute < minute) this.#entries.delete(key)
    }
  }

  #hasRoom(minute: number, group: RefusedActor['kind']): boolean {
    if (this.#entries.size >= MOST_HELD) return false
    let begun = 0
    for (const entry of this.#entries.values()) if (entry.minute === minute && entry.group === group) begun++
    return begun < (group === 'key' ? MOST_KEYS : MOST_STRANGERS)
  }

  #begin(key: string, minute: number, group: Entry['group'], refusal: Refusal): void {
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

  #addToOthers(minute: number, refusal: Refusal): void {
    const key = `${minute} others`
    const known = this.#entries.get(key)
    if (known === undefined) this.#begin(key, minute, 'others', refusal)
    else count(known, refusal)
  }
}

function count(entry: Entry, { operation, atMs }: Refusal): void {
  const { row } = entry
  row.count++
  row.last_at = new Date(atMs)
  if (row.operations.length < MOST_OPERATIONS && !row.operations.includes(operation)) row.operations.push(operation)
  entry.isStored = false
}

function nameOf(actor: RefusedActor): string {
  return actor.kind === 'key' ? `key ${actor.keyId}` : `stranger ${actor.network} ${actor.keyHint ?? ''}`
}
