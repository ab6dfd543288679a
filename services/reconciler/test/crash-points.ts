import type { ReconcileParts } from '../src/batch/reconcile-batch.ts'

/** The moments at which a test stops a batch, in their order: between any two steps that store or send something. */
export const CRASH_POINTS = [
  'before the save',
  'after the save',
  'before the incidents are listed',
  'before the actions are listed',
  'after the projections',
  'before the inbox mark',
  'after the inbox mark',
] as const

export type CrashPoint = (typeof CRASH_POINTS)[number]

/** @param pass called at each moment; what it throws stops the batch there */
export function withCrashPoints(parts: ReconcileParts, pass: (point: CrashPoint) => void): ReconcileParts {
  const { cases, projections, inbox } = parts.stores
  return {
    ...parts,
    stores: {
      ...parts.stores,
      cases: {
        ...cases,
        async save(changes) {
          pass('before the save')
          const lost = await cases.save(changes)
          pass('after the save')
          return lost
        },
      },
      projections: {
        ...projections,
        async saveActions(actions, now) {
          pass('before the actions are listed')
          await projections.saveActions(actions, now)
        },
        async saveIncidents(incidents) {
          pass('before the incidents are listed')
          await projections.saveIncidents(incidents)
          pass('after the projections')
        },
      },
      inbox: {
        ...inbox,
        async insert(entries) {
          pass('before the inbox mark')
          await inbox.insert(entries)
        },
        async decideAgain(documents) {
          await inbox.decideAgain(documents)
          pass('after the inbox mark')
        },
      },
    },
  }
}
