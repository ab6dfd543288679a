import { type ActionKind, isoTime, type ProviderKind, type Verdict, type VerdictReason } from '@backstop/contracts'
import { type ActionRecord, isJudged } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import { ruleOf } from '../verdict/why.ts'
import type { History } from './history.ts'

/** What is said of an action. */
export interface ShownVerdict {
  readonly verdict: Verdict
  readonly reason: VerdictReason
  readonly operation_id: string | null
  /** Whether people were told that nothing explains it, be it taken back later or not. */
  readonly alerted: boolean
  /** One sentence for a person. */
  readonly rule: string
}

/** An action of which a dry run says something else than what is stored. */
export interface VerdictDifference {
  readonly action_id: string
  readonly project_id: string
  readonly connection_ids: readonly string[]
  readonly provider: ProviderKind
  readonly kind: ActionKind
  readonly subject: string
  readonly provider_ref: string | null
  /** Minor units. */
  readonly amount: number | null
  readonly currency: string | null
  readonly first_seen_at: string
  readonly basis: History['basis']
  /** Null for an action that nobody saw then. */
  readonly stored: ShownVerdict | null
  /** Null for an action that the replay does not see. */
  readonly now: ShownVerdict | null
}

/** An action as it is stored and as the replay has it: at least one of them. */
export interface ComparedAction {
  readonly stored: ActionRecord | undefined
  readonly now: ActionRecord | undefined
}

/** Which stored action is which of the replay. */
export function pairActions(stored: Case | undefined, replayed: readonly Case[]): ComparedAction[] {
  const left = replayed.flatMap(({ actions }) => actions).filter(isJudged)
  const take = (isSame: (action: ActionRecord) => boolean) => {
    const index = left.findIndex(isSame)
    return index < 0 ? undefined : left.splice(index, 1)[0]
  }
  const known = stored?.actions.filter(isJudged) ?? []
  // Sure matches first, so that none of them is taken by a guess.
  const sure = new Map(known.map(action => [action, take(({ id }) => id === action.id)]))
  const pairs = known.map(action => ({
    stored: action,
    now: sure.get(action) ?? take(other => isOneObject(action, other)),
  }))
  return [...pairs, ...left.map(now => ({ stored: undefined, now }))]
}

/** An id follows from what was seen first, and the replay may have seen another side of the same thing first. */
function isOneObject(a: ActionRecord, b: ActionRecord): boolean {
  if (a.kind !== b.kind) return false
  if (a.identity === b.identity || a.sides.some(side => b.sides.some(({ identity }) => identity === side.identity))) {
    return true
  }
  return a.turn !== null && a.turn.row === b.turn?.row && a.providerCreatedAt === b.providerCreatedAt
}

/** @returns undefined where both say the same */
export function differenceOf(
  { stored, now }: ComparedAction,
  projectId: string,
  basis: History['basis'],
): VerdictDifference | undefined {
  const [before, after] = [shownVerdict(stored), shownVerdict(now)]
  const shown = stored ?? now
  if (shown === undefined || isSame(before, after)) return undefined
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

/** Whether an incident was ever opened because nothing explained it. */
export function wasAlerted({ incidents }: ActionRecord): boolean {
  return incidents.some(({ code }) => code === 'UNEXPECTED_ACTION')
}

function isSame(a: ShownVerdict | null, b: ShownVerdict | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.verdict === b.verdict && a.reason === b.reason && a.operation_id === b.operation_id && a.alerted === b.alerted
  )
}
