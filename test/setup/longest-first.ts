import { sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The test files that take longest, in each part the longest first. A part that began one of them last would wait for it with one
 * worker. Vitest orders by durations of the last run, which a fresh clone does not have.
 */
export const LONGEST = [
  'services/admin-api/test/api.test.ts',
  'services/admin-api/test/api.integration-test.ts',
  'services/admin-api/test/public-flood.slow-test.ts',
  'services/notifier/test/crash-points.integration-test.ts',
  'packages/kit/src/bus/broker-away.integration-test.ts',
  'services/reconciler/test/dry-run.integration-test.ts',
  'services/reconciler/test/crash-points.integration-test.ts',
  'stack/test/faults.integration-test.ts',
  'packages/ledger/test/approval-timers.integration-test.ts',
  'services/admin-api/test/oidc-sign-in.integration-test.ts',
  'services/notifier/test/webhook-code.slow-test.ts',
  'packages/providers/test/adding-a-provider.slow-test.ts',
  'services/notifier/test/adding-a-channel.slow-test.ts',
  'test/e2e/every-provider.system-test.ts',
  'test/launcher/launcher.system-test.ts',
  'test/faults/restore.system-test.ts',
  'test/faults/crash-points.system-test.ts',
  'test/console/console.system-test.ts',
  'test/console/demo-week.system-test.ts',
  'test/e2e/first-alert.system-test.ts',
  'test/faults/alerts.system-test.ts',
  'test/faults/added-partitions.system-test.ts',
  'test/faults/heartbeat.system-test.ts',
  'test/e2e/command-line-tour.system-test.ts',
  'test/histories/histories.system-test.ts',
  'test/e2e/first-steps.system-test.ts',
  'test/faults/second-look-moves.system-test.ts',
  'test/e2e/incident-life-cycle.system-test.ts',
  'test/e2e/personal-data.system-test.ts',
  'test/faults/two-reconcilers.system-test.ts',
] as const

/** Starts the longest test files first, so that all workers end at about the same time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId))
  }
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex(file => path.split(sep).join('/').endsWith(`/${file}`))
  return rank === -1 ? LONGEST.length : rank
}
