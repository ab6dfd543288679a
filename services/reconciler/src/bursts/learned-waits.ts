import { type Action, isHeartbeatProject } from '@backstop/contracts'
import { BURST_WINDOW_MS, dayNumberOf, LATE_AGES_MS, PART_MS } from '@backstop/verdict'
import type { Learned } from './burst-store.ts'

/** What this process learned about a connection since it was last stored. */
export interface Unstored extends Learned {
  readonly since: number
  late: Record<string, number>
  busiest: Record<string, number>
  waits: Record<string, number>
  /** Explained actions by parts of ten seconds. */
  readonly parts: Map<number, number>
  /** The busiest part that was counted in a half hour. */
  readonly highest: { halfHour: number; count: number }
}

/** The least number of actions that is worth storing: ten give the alarm. */
const WORTH_STORING = 5
const HALF_HOUR_MS = 1_800_000

/** Collects in memory what is usual for each connection. What a killed process had not stored is lost, which does no harm. */
export class LearnedWaits {
  readonly #byConnection = new Map<string, Unstored>()
  #newPending = 0

  /** The number of new actions without an explanation since the last call. */
  takeNewPending(): number {
    const count = this.#newPending
    this.#newPending = 0
    return count
  }

  /** @param decided the actions whose verdict a batch gave or changed */
  note(decided: readonly Action[], now: number): void {
    for (const action of decided) {
      if (action.verdict === 'pending') this.#newPending += 1
      else if (action.operation_id !== null) this.#noteExplained(action, now)
    }
  }

  #noteExplained({ connection_id, project_id, first_seen_at, second_look_at }: Action, now: number): void {
    if (isHeartbeatProject(project_id)) return
    const seenAt = Date.parse(first_seen_at)
    const learned = this.of(connection_id, project_id, now)
    // An action that was explained at first sight has no second look.
    const waitMs = second_look_at === null ? 0 : now - seenAt
    // It was alerted. Software that reports so late does not say what is usual within the minute.
    if (waitMs > BURST_WINDOW_MS) return
    learned.waits.all = (learned.waits.all ?? 0) + 1
    for (const age of LATE_AGES_MS) if (waitMs > age) learned.waits[age] = (learned.waits[age] ?? 0) + 1
    const part = Math.floor(seenAt / PART_MS)
    learned.parts.set(part, (learned.parts.get(part) ?? 0) + 1)
  }

  /** @param late the number of late actions, by the place of their age in `LATE_AGES_MS` */
  noteLate(connectionId: string, projectId: string, late: readonly number[], now: number): void {
    const learned = this.of(connectionId, projectId, now)
    for (const [index, age] of LATE_AGES_MS.entries()) {
      const count = late[index] ?? 0
      if (count >= WORTH_STORING) learned.late[age] = Math.max(learned.late[age] ?? 0, count)
    }
  }

  of(connectionId: string, projectId: string, now: number): Unstored {
    const known = this.#byConnection.get(connectionId)
    if (known !== undefined) return known
    const created = newEntry(connectionId, projectId, now, { parts: new Map(), highest: { halfHour: 0, count: 0 } })
    this.#byConnection.set(connectionId, created)
    return created
  }

  all(): Unstored[] {
    return [...this.#byConnection.values()]
  }

  /** Begins again after an entry was stored or is too old. A connection without recent actions is evicted. */
  renew({ connectionId, projectId, parts, highest }: Unstored, now: number): void {
    this.#byConnection.delete(connectionId)
    if (parts.size > 0) this.#byConnection.set(connectionId, newEntry(connectionId, projectId, now, { parts, highest }))
  }
}

function newEntry(
  connectionId: string,
  projectId: string,
  now: number,
  kept: Pick<Unstored, 'parts' | 'highest'>,
): Unstored {
  return { connectionId, projectId, day: dayNumberOf(now), since: now, late: {}, busiest: {}, waits: {}, ...kept }
}

/**
 * The busiest part of ten seconds that began before this time, if it is busier than those that this process counted in the same half hour.
 * The parts are removed from `parts`.
 */
export function takeBusiestPart({ parts, highest }: Unstored, before: number): number | undefined {
  const taken = [...parts].filter(([part]) => part * PART_MS < before)
  for (const [part] of taken) parts.delete(part)
  const [busiest] = taken.sort((a, b) => b[1] - a[1])
  if (busiest === undefined) return undefined
  const [part, count] = busiest
  const halfHour = Math.floor((part * PART_MS) / HALF_HOUR_MS)
  const known = highest.halfHour === halfHour ? highest.count : WORTH_STORING - 1
  if (count <= known) return undefined
  Object.assign(highest, { halfHour, count })
  return part
}

/** Whether it must be stored soon. A connection whose operations explain everything at first sight is stored rarely. */
export function isUnusual({ late, busiest, waits }: Unstored): boolean {
  const waited = Object.entries(waits).some(([age, count]) => age !== 'all' && count > 0)
  return waited || Object.keys(late).length > 0 || Object.keys(busiest).length > 0
}

export function hasLearned(entry: Unstored): boolean {
  return entry.waits.all !== undefined || isUnusual(entry)
}
