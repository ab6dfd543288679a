import type { CollectionName } from '@backstop/contracts'
import type { Sort, UpdateFilter } from 'mongodb'

/** How the duplicates of one unique index are resolved. */
export interface DuplicateRule {
  /** The document that is first in this order keeps the values. */
  readonly first: Sort
  /** Why this document, for a person. */
  readonly why: string
  /** How another document loses the values, and what the audit row says about it. */
  lose(
    id: string,
    values: Readonly<Record<string, unknown>>,
    keptId: string,
  ): {
    readonly update: UpdateFilter<{ _id: string }>
    readonly changes: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[]
  }
}

const OLDEST_FIRST = { created_at: 1, _id: 1 } as const

/** Sets fields to values that no other document has, or that the index ignores. The audit row shows a hash only as changed. */
const set =
  (valuesOf: (id: string) => Readonly<Record<string, unknown>>, isShown = true): DuplicateRule['lose'] =>
  (id, values, keptId) => ({
    update: { $set: valuesOf(id) },
    changes: Object.entries(valuesOf(id)).map(([field, to]) => ({
      field,
      from: isShown ? { value: values[field], kept_by: keptId } : { kept_by: keptId },
      to,
    })),
  })

/** The rules by collection and fields. A unique index without a rule needs a person. */
const RULES: Readonly<Record<string, DuplicateRule>> = {
  'operations connection_id,idempotency_key': {
    first: OLDEST_FIRST,
    why: 'the oldest operation keeps the idempotency key, because a repeated report gets the first answer',
    lose: set(() => ({ idempotency_key: null })),
  },
  'subjects current.refs': {
    // The version grows with each change, so this is the case that has recorded most.
    first: { 'current.version': -1, _id: 1 },
    why: 'the case with most changes keeps the reference, and gets the further events',
    lose: (_id, values, keptId) => ({
      update: { $pull: { 'current.0.refs': values['current.refs'] }, $inc: { 'current.0.version': 1 } } as never,
      changes: [{ field: 'refs', from: { value: values['current.refs'], kept_by: keptId }, to: null }],
    }),
  },
  'storms connection_id': {
    first: { began_at: 1, _id: 1 },
    why: 'the storm that began first stays open',
    lose: () => ({
      update: [{ $set: { state: 'ended', ended_at: '$$NOW' } }, { $unset: 'next_look_at' }] as never,
      changes: [{ field: 'state', from: 'open', to: 'ended' }],
    }),
  },
  'people issuer,subject': {
    first: OLDEST_FIRST,
    why: 'the oldest person keeps the sign-in; assign the roles of the others to it',
    lose: set(() => ({ issuer: null, subject: null })),
  },
  'api_keys hash': {
    first: OLDEST_FIRST,
    why: 'the oldest key stays valid, and the others cannot be used',
    lose: set(id => ({ hash: `duplicate/${id}` }), false),
  },
  'sessions hash': {
    first: OLDEST_FIRST,
    why: 'the oldest session stays valid, and the others cannot be used',
    lose: set(id => ({ hash: `duplicate/${id}` }), false),
  },
}

/** Indexes whose duplicates a person must judge: two audit rows in one place may be the trace of a forgery. */
export const FOR_A_PERSON: ReadonlySet<string> = new Set(['audit sequence'])

export const ruleOf = (collection: CollectionName, fields: readonly string[]): DuplicateRule | undefined =>
  RULES[`${collection} ${fields.join(',')}`]
