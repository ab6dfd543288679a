import {
  type ActionKind,
  type DryRunBasis,
  isoTime,
  type ShownVerdict,
  type VerdictDifference,
} from '@backstop/contracts'
import { type ActionRecord, type Case, needsVerdict, ruleOf } from '@backstop/verdict'

/** An action as it is stored, and as the replay finds it. At least one of the two is set. */
export interface ComparedAction {
  readonly stored: ActionRecord | undefined
  readonly now: ActionRecord | undefined
}

/** Pairs the stored actions with those of the replay. */
export function pairActions(stored: Case | undefined, replayed: readonly Case[]): ComparedAction[] {
  const left = replayed.flatMap(({ actions }) => actions).filter(needsVerdict)
  const take = (isSame: (action: ActionRecord) => boolean) => {
    const index = left.findIndex(isSame)
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  const known = stored?.actions.filter(needsVerdict) ?? []
  // Match by id first, so that a less certain match does not use the action of a certain one.
  const sure = new Map(known.map(action => [action, take(({ id }) => id === action.id)]))
  const pairs = known.map(action => ({
    stored: action,
    now: sure.get(action) ?? take(other => isOneObject(action, other)),
  }))
  return [...pairs, ...left.map(now => ({ stored: undefined, now }))]
}

/**
 * An action's id depends on the object that was seen first, and the replay may see another object of the action first.
 */
function isOneObject(a: ActionRecord, b: ActionRecord): boolean {
  if (a.kind !== b.kind) return false
  if (a.identity === b.identity || a.sides.some(side => b.sides.some(({ identity }) => identity === side.identity))) {
    return true
  }
  return a.turn !== null && a.turn.row === b.turn?.row && a.providerCreatedAt === b.providerCreatedAt
}

/** @returns undefined if both have the same verdict */
export function differenceOf(
  { stored, now }: ComparedAction,
  projectId: string,
  basis: DryRunBasis,
): VerdictDifference | undefined {
  const [before, after] = [shownVerdict(stored), shownVerdict(now)]
  const shown = stored ?? now
  if (shown === undefined || hasSameVerdict(before, after)) return undefined
  return {
    action_id: shown.id,
    project_id: projectId,
    connection_ids: shown.seenThrough.map(({ id }) => id),
    provider: shown.provider,
    kind: shown.kind as ActionKind,
    subject: shown.subject,
    provider_ref: shown.providerRef,
    amount: shown.amount,
    currency: shown.currency,
    first_seen_at: isoTime(shown.firstSeenAt),
    basis,
    stored: before,
    now: after,
  }
}

function shownVerdict(action: ActionRecord | undefined): ShownVerdict | null {
  if (action === undefined) return null
  return {
    verdict: action.verdict,
    reason: action.reason,
    operation_id: action.operationId,
    alerted: wasAlerted(action),
    rule: ruleOf(action),
  }
}

/** True if an incident was ever opened because nothing explained the action. */
export function wasAlerted({ incidents }: ActionRecord): boolean {
  return incidents.some(({ code }) => code === 'UNEXPECTED_ACTION')
}

function hasSameVerdict(a: ShownVerdict | null, b: ShownVerdict | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.verdict === b.verdict && a.reason === b.reason && a.operation_id === b.operation_id && a.alerted === b.alerted
  )
}
