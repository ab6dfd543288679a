/**
 * The tests of the API over HTTP. api.test.ts runs all of them over the simulated MongoDB, api.integration-test.ts those that depend on
 * the real servers.
 */

import { afterAll, beforeAll, describe } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { describeAccess } from './access-of-every-route.contract.ts'
import { describeActors } from './actors.contract.ts'
import { describeAlertChannels } from './alert-channels.contract.ts'
import { describeApiKeys } from './api-keys.contract.ts'
import { describeApprovals } from './approvals.contract.ts'
import { describeArchivedProjects } from './archived-projects.contract.ts'
import { describeAudit } from './audit.contract.ts'
import { describeAuthentication } from './authentication.contract.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeChannelChanges } from './channel-changes.contract.ts'
import { describeChannelRoundTrip } from './channel-round-trip.contract.ts'
import { describeCompleteness } from './completeness.contract.ts'
import { describeConnections } from './connections.contract.ts'
import { describeCursors } from './cursors.contract.ts'
import { describeDeadLetters } from './dead-letters.contract.ts'
import { describeDeletedExpectedChanges } from './deleted-expected-changes.contract.ts'
import { describeDeliveries } from './deliveries.contract.ts'
import { describeDemoProjects } from './demo-projects.contract.ts'
import { describeDryRun } from './dry-run.contract.ts'
import { describeExpiredSecrets } from './expired-secrets.contract.ts'
import { describeFilters } from './filters.contract.ts'
import { describeHeartbeat } from './heartbeat.contract.ts'
import { describeInboxReplays } from './inbox-replays.contract.ts'
import { describeIncidentChanges } from './incident-changes.contract.ts'
import { describeIncidents } from './incidents.contract.ts'
import { describeLimitedExpectedChanges } from './limited-expected-changes.contract.ts'
import { describeLive } from './live.contract.ts'
import { describeMail } from './mail.contract.ts'
import { describeOperations } from './operations.contract.ts'
import { describePeople } from './people.contract.ts'
import { describePersonErasures } from './person-erasures.contract.ts'
import { describePreviews } from './previews.contract.ts'
import { describeProjects } from './projects.contract.ts'
import { describeReconciling } from './reconciling.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeReportBatches } from './report-batch.contract.ts'
import { describeRuns } from './runs.contract.ts'
import { describeSearch } from './search.contract.ts'
import { describeSecretKeys } from './secret-keys.contract.ts'
import { describeSecrets } from './secrets.contract.ts'
import { describeSessions } from './sessions.contract.ts'
import { describeSilences } from './silences.contract.ts'
import { describeStats } from './stats.contract.ts'
import { describeSuppressions } from './suppressions.contract.ts'
import { describeWholeLists } from './whole-lists.contract.ts'

type DescribePart = (testApi: () => TestApi) => void

/** What the store and the broker decide: queries, transactions with their audit rows, the change stream, and every route once. */
export const PARTS_OF_SERVERS: readonly DescribePart[] = [
  describeAudit,
  describeWholeLists,
  describeOperations,
  describeReportBatches,
  describeReconciling,
  describeAccess,
  describeExpiredSecrets,
  describeFilters,
  describeLive,
  describeSearch,
  describeCursors,
]

/** The whole contract. */
export const ALL_PARTS: readonly DescribePart[] = [
  // First, because they read every stored secret and every row of the audit, and the other tests store hundreds and thousands.
  describeSecretKeys,
  describeAudit,
  describeWholeLists,
  describeAuthentication,
  describeApiKeys,
  describePeople,
  describeSessions,
  describeProjects,
  describeConnections,
  describeDryRun,
  describeAlertChannels,
  describeChannelChanges,
  describeDeliveries,
  describeDeadLetters,
  describeInboxReplays,
  describeSilences,
  describeActors,
  describeSuppressions,
  describeOperations,
  describeReportBatches,
  describeApprovals,
  describeBudgets,
  describeRuns,
  describeIncidents,
  describeIncidentChanges,
  describeReconciling,
  describeRefusals,
  describeAccess,
  describeSecrets,
  describeExpiredSecrets,
  describeMail,
  describePersonErasures,
  describePreviews,
  describeArchivedProjects,
  describeDemoProjects,
  describeFilters,
  describeChannelRoundTrip,
  describeDeletedExpectedChanges,
  describeLimitedExpectedChanges,
  describeLive,
  describeStats,
  describeCompleteness,
  describeSearch,
  describeHeartbeat,
  describeCursors,
]

/** Runs parts of the contract over one API. */
export function describeApi(name: string, open: () => Promise<TestApi>, parts: readonly DescribePart[]): void {
  describe(`the management API over ${name}`, () => {
    let testApi: TestApi
    beforeAll(async () => {
      testApi = await open()
    })
    afterAll(() => testApi.stop())
    for (const describePart of parts) describePart(() => testApi)
  })
}
