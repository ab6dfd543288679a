import { LEDGER_CRASH_POINTS } from '../../packages/ledger/src/crash-points.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import { INGRESS_CRASH_POINTS } from '../../services/ingress/src/crash-points.ts'
import { NOTIFIER_CARE_CRASH_POINTS, NOTIFIER_CRASH_POINTS } from '../../services/notifier/src/crash-points.ts'
import { RECONCILER_COMMAND_CRASH_POINTS, RECONCILER_CRASH_POINTS } from '../../services/reconciler/src/crash-points.ts'

/** The points on the way of a refund, by service; those of the kit lie in the loops of the service that is named. */
export const POINTS: Record<ServiceName, readonly string[]> = {
  ingress: INGRESS_CRASH_POINTS,
  reconciler: [...RECONCILER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  notifier: [...NOTIFIER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  'admin-api': LEDGER_CRASH_POINTS,
}

/** Those that no refund leads to by itself: `test/crash-points.integration-test.ts` of their service kills at each. */
export const POINTS_OFF_THE_WAY: readonly string[] = [...NOTIFIER_CARE_CRASH_POINTS, ...RECONCILER_COMMAND_CRASH_POINTS]
