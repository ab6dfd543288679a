import type { Case, EvictedRecord, ExpectedChange, FollowedOperation } from '@backstop/verdict'

/** The fields of a case that are stored as text, because the database does not search or compare them. */
type State = Omit<Case, 'id' | 'projectId' | 'version' | 'refs' | 'outbox'>

/**
 * The layout of the text. A text in an older layout can be read, and is written in this layout with the next change.
 */
const LAYOUT = 2

/** The fields of a case that are stored beside the text. `JSON.stringify` leaves them out. */
const BESIDE_THE_TEXT = {
  id: undefined,
  projectId: undefined,
  version: undefined,
  refs: undefined,
  outbox: undefined,
} satisfies Record<Exclude<keyof Case, keyof State>, undefined>

/** A case as JSON text. Fields that only a newer version knows are kept. */
export function writeState(theCase: Case): string {
  return JSON.stringify({ layout: LAYOUT, ...theCase, ...BESIDE_THE_TEXT })
}

/** Reads a text of any layout. */
export function readState(text: string): State {
  const { layout, ...state } = JSON.parse(text) as State & { readonly layout?: number }
  return layout === LAYOUT ? state : fromLayout1(state as unknown as Layout1)
}

/** The layout of texts without a `layout` field. */
interface Layout1 extends Omit<State, 'expectedChanges' | 'followedOperations' | 'evicted'> {
  readonly notes: readonly Note1[]
  readonly operationCases: readonly OperationCase1[]
  readonly forgotten?: readonly EvictedRecord[]
}

type Limits = 'startsAt' | 'maxChanges' | 'maxAmount' | 'usedElsewhere'

interface Note1 extends Omit<ExpectedChange, 'createdAt' | Limits>, Partial<Pick<ExpectedChange, Limits>> {
  readonly notedAt: number
}

interface OperationCase1 extends Omit<FollowedOperation, 'reportedDrifts' | 'outcome'> {
  readonly driftsTold: FollowedOperation['reportedDrifts']
  readonly settledAs: FollowedOperation['outcome']
}

function fromLayout1({ notes, operationCases, forgotten, ...state }: Layout1): State {
  return {
    ...state,
    evicted: forgotten ?? [],
    followedOperations: operationCases.map(({ driftsTold, settledAs, ...known }) => ({
      ...known,
      reportedDrifts: driftsTold,
      outcome: settledAs,
    })),
    // In layout 1 an expected change had no limits and covered one change of any amount.
    expectedChanges: notes.map(({ notedAt, ...note }) => ({
      startsAt: null,
      maxChanges: 1,
      maxAmount: null,
      usedElsewhere: { changes: 0, amount: 0 },
      ...note,
      createdAt: notedAt,
    })),
  }
}
