import { LEDGER_CRASH_POINTS } from '../../packages/ledger/src/published-ledger.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import { INGRESS_CRASH_POINTS } from '../../services/ingress/src/crash-points.ts'
import { NOTIFIER_CARE_CRASH_POINTS, NOTIFIER_CRASH_POINTS } from '../../services/notifier/src/crash-points.ts'
import {
  RECONCILER_COMMAND_CRASH_POINTS,
  RECONCILER_CRASH_POINTS,
  RECONCILER_INCIDENT_CRASH_POINTS,
  RECONCILER_REPLAY_CRASH_POINTS,
} from '../../services/reconciler/src/crash-points.ts'

/**
 * The crash points that a refund reaches, by service. A crash point of the kit is listed for the service whose loop reaches it.
 */
export const REFUND_CRASH_POINTS: Record<ServiceName, readonly string[]> = {
  ingress: INGRESS_CRASH_POINTS,
  reconciler: [...RECONCILER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  notifier: [...NOTIFIER_CRASH_POINTS, 'delay.produced', 'work.dead-lettered'],
  'admin-api': LEDGER_CRASH_POINTS,
}

/** Crash points that no refund reaches. `test/crash-points.integration-test.ts` of the service tests them. */
export const OTHER_CRASH_POINTS: readonly string[] = [
  ...NOTIFIER_CARE_CRASH_POINTS,
  ...RECONCILER_COMMAND_CRASH_POINTS,
  ...RECONCILER_INCIDENT_CRASH_POINTS,
  ...RECONCILER_REPLAY_CRASH_POINTS,
]
