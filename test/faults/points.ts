import { LEDGER_CRASH_POINTS } from '../../packages/ledger/src/crash-points.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import { INGRESS_CRASH_POINTS } from '../../services/ingress/src/crash-points.ts'
import { NOTIFIER_CARE_CRASH_POINTS, NOTIFIER_CRASH_POINTS } from '../../services/notifier/src/crash-points.ts'
import { RECONCILER_COMMAND_CRASH_POINTS, RECONCILER_CRASH_POINTS } from '../../services/reconciler/src/crash-points.ts'

/** The crash points on the path of a refund, by service; those of the kit are in loops of that service. */
export const POINTS: Record<ServiceName, readonly string[]> = {
  ingress: INGRESS_CRASH_POINTS,
  reconciler: [...RECONCILER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  notifier: [...NOTIFIER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  'admin-api': LEDGER_CRASH_POINTS,
}

/** Crash points that a refund does not reach; `test/crash-points.integration-test.ts` of the service kills at each. */
export const POINTS_OFF_THE_WAY: readonly string[] = [...NOTIFIER_CARE_CRASH_POINTS, ...RECONCILER_COMMAND_CRASH_POINTS]
