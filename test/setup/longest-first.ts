import { sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The test files that take longest, of each kind the longest first. A part that began one of them last would wait for it with one
 * worker. Vitest orders by durations of the last run, which a fresh clone does not have.
 */
export const LONGEST = [
  'services/admin-api/test/api.test.ts',
  'packages/providers/src/read-back.test.ts',
  'services/notifier/src/app.test.ts',
  'test/cli/commands.test.ts',
  'packages/kit/src/http/operator-client.test.ts',
  'test/simulation/simulation.slow-test.ts',
  'reporters/python/python-reporter.slow-test.ts',
  'test/client/conformance/reporters.slow-test.ts',
  'services/admin-api/test/process.integration-test.ts',
  'services/admin-api/test/public-flood.slow-test.ts',
  'services/ingress/src/connections/mongo-connections.integration-test.ts',
  'test/credentials/kafka.integration-test.ts',
  'test/adding-a-kind.slow-test.ts',
  'packages/kit/src/bus/broker-away.integration-test.ts',
  'stack/test/faults.integration-test.ts',
  'stack/test/adopt.integration-test.ts',
  'test/release/packages.slow-test.ts',
  'packages/client/test/forms-of-calls.slow-test.ts',
  'services/admin-api/test/oidc-sign-in.integration-test.ts',
  'services/notifier/test/retry-ladder.integration-test.ts',
  'services/admin-api/test/api.integration-test.ts',
  'services/notifier/test/storms.integration-test.ts',
  'services/notifier/test/process.integration-test.ts',
  'packages/ledger/test/approval-timers.integration-test.ts',
  'packages/kit/src/service/silent-kafka.integration-test.ts',
  'test/e2e/minute-product.system-test.ts',
  'test/e2e/personal-data.system-test.ts',
  'test/faults/stopped-servers.system-test.ts',
  'test/console/console.system-test.ts',
  'test/launcher/launcher.system-test.ts',
  'test/console/demo-week.system-test.ts',
  'test/e2e/quick-product.system-test.ts',
  'test/faults/alerts.system-test.ts',
  'test/faults/restore.system-test.ts',
  'test/histories/histories.system-test.ts',
  'test/e2e/command-line-tour.system-test.ts',
  'test/e2e/every-provider.system-test.ts',
  'test/faults/unanswered-looks.system-test.ts',
  'test/faults/dead-providers.system-test.ts',
  'test/e2e/storm.system-test.ts',
  'test/faults/bulkhead.system-test.ts',
  'test/faults/shifted-clocks.system-test.ts',
  'test/e2e/doctor.system-test.ts',
  'test/credentials/rights.system-test.ts',
  'test/simulation/real/real.system-test.ts',
  'test/upgrade/stored-data.system-test.ts',
  'test/e2e/secrets.system-test.ts',
  'test/e2e/traced-product.system-test.ts',
  'test/faults/election.system-test.ts',
] as const

/**
 * Starts the longest test files of each kind first, so that all workers end at about the same time. System tests are
 * mixed with the others, because they mostly wait and the others compute.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const kinds = Map.groupBy(sorted, file => file.moduleId.endsWith('.system-test.ts'))
    return mix([...kinds.values()].map(kind => kind.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId))))
  }
}

/** Merges lists so that each is spread evenly over the whole, and keeps the order of each. */
export function mix<T>(lists: readonly (readonly T[])[]): T[] {
  return lists
    .flatMap(list => list.map((item, index) => ({ item, share: (index + 0.5) / list.length })))
    .toSorted((a, b) => a.share - b.share)
    .map(({ item }) => item)
}

function rankOf(path: string): number {
  const rank = LONGEST.findIndex(file => path.split(sep).join('/').endsWith(`/${file}`))
  return rank === -1 ? LONGEST.length : rank
}
