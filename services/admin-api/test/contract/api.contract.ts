/**
 * The tests of the whole API over HTTP, for any store. api.test.ts runs them in memory, api.integration-test.ts over MongoDB and Kafka.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { describeAlertChannels } from './alert-channels.contract.ts'
import { describeApiKeys } from './api-keys.contract.ts'
import { describeApprovals } from './approvals.contract.ts'
import { describeArchivedProjects } from './archived-projects.contract.ts'
import { describeAudit } from './audit.contract.ts'
import { describeAuthentication } from './authentication.contract.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeChannelChanges } from './channel-changes.contract.ts'
import { describeChannelRoundTrip } from './channel-round-trip.contract.ts'
import { describeConnections } from './connections.contract.ts'
import { describeCursors } from './cursors.contract.ts'
import { describeDeadLetters } from './dead-letters.contract.ts'
import { describeDeletedExpectedChanges } from './deleted-expected-changes.contract.ts'
import { describeDeliveries } from './deliveries.contract.ts'
import { describeDemoProjects } from './demo-projects.contract.ts'
import { describeDryRun } from './dry-run.contract.ts'
import { describeExpiredSecrets } from './expired-secrets.contract.ts'
import { describeFilters } from './filters.contract.ts'
import { describeAccess } from './foreign-project.contract.ts'
import { describeHeartbeat } from './heartbeat.contract.ts'
import { describeInboxReplays } from './inbox-replays.contract.ts'
import { describeIncidentChanges } from './incident-changes.contract.ts'
import { describeIncidents } from './incidents.contract.ts'
import { describeLive } from './live.contract.ts'
import { describeMail } from './mail.contract.ts'
import { describeOperations } from './operations.contract.ts'
import { describePeople } from './people.contract.ts'
import { describePreviews } from './previews.contract.ts'
import { describeProjects } from './projects.contract.ts'
import { describeReconciling } from './reconciling.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeRuns } from './runs.contract.ts'
import { describeSearch } from './search.contract.ts'
import { describeSecretKeys } from './secret-keys.contract.ts'
import { describeSecrets } from './secrets.contract.ts'
import { describeSessions } from './sessions.contract.ts'
import { describeSilences } from './silences.contract.ts'
import { describeStats } from './stats.contract.ts'
import { describeSuppressions } from './suppressions.contract.ts'
import { describeWholeLists } from './whole-lists.contract.ts'

/** @param more tests of rules that do not depend on the store, which ask every route many times */
export function describeApi(
  name: string,
  open: () => Promise<TestApi>,
  more: readonly ((testApi: () => TestApi) => void)[] = [],
): void {
  describe(`the management API over ${name}`, () => {
    let testApi: TestApi
    beforeAll(async () => {
      testApi = await open()
    })
    afterAll(() => testApi.stop())
    const current = () => testApi
    // First, because they read every stored secret and every row of the audit, and the other tests store hundreds and thousands.
    describeSecretKeys(current)
    describeAudit(current)
    describeWholeLists(current)
    describeAuthentication(current)
    describeApiKeys(current)
    describePeople(current)
    describeSessions(current)
    describeProjects(current)
    describeConnections(current)
    describeDryRun(current)
    describeAlertChannels(current)
    describeChannelChanges(current)
    describeDeliveries(current)
    describeDeadLetters(current)
    describeInboxReplays(current)
    describeSilences(current)
    describeSuppressions(current)
    describeOperations(current)
    describeApprovals(current)
    describeBudgets(current)
    describeRuns(current)
    describeIncidents(current)
    describeIncidentChanges(current)
    describeReconciling(current)
    describeRefusals(current)
    describeAccess(current)
    describeSecrets(current)
    describeExpiredSecrets(current)
    describeMail(current)
    describePreviews(current)
    describeArchivedProjects(current)
    describeDemoProjects(current)
    describeFilters(current)
    describeChannelRoundTrip(current)
    describeDeletedExpectedChanges(current)
    describeLive(current)
    describeStats(current)
    describeSearch(current)
    describeHeartbeat(current)
    describeCursors(current)
    for (const describeMore of more) describeMore(current)
  })
}
