/**
 * The tests of the whole API over HTTP, for any store. api.test.ts runs them in memory, api.integration-test.ts over MongoDB and Kafka.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { describeAlertChannels } from './alert-channels.contract.ts'
import { describeApprovals } from './approvals.contract.ts'
import { describeAudit } from './audit.contract.ts'
import { describeAuthentication } from './authentication.contract.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeChannelChanges } from './channel-changes.contract.ts'
import { describeConnections } from './connections.contract.ts'
import { describeDeadLetters } from './dead-letters.contract.ts'
import { describeDeliveries } from './deliveries.contract.ts'
import { describeExpiredSecrets } from './expired-secrets.contract.ts'
import { describeAccess } from './foreign-project.contract.ts'
import { describeIncidents } from './incidents.contract.ts'
import { describeMail } from './mail.contract.ts'
import { describeOperations } from './operations.contract.ts'
import { describePreviews } from './previews.contract.ts'
import { describeProjects } from './projects.contract.ts'
import { describeReconciling } from './reconciling.contract.ts'
import { describeRefusals } from './refusals.contract.ts'
import { describeRuns } from './runs.contract.ts'
import { describeSecrets } from './secrets.contract.ts'
import { describeSilences } from './silences.contract.ts'
import { describeSuppressions } from './suppressions.contract.ts'

export function describeApi(name: string, open: () => Promise<TestApi>): void {
  describe(`the management API over ${name}`, () => {
    let testApi: TestApi
    beforeAll(async () => {
      testApi = await open()
    })
    afterAll(() => testApi.stop())
    const current = () => testApi
    describeAuthentication(current)
    describeProjects(current)
    describeConnections(current)
    describeAlertChannels(current)
    describeChannelChanges(current)
    describeDeliveries(current)
    describeDeadLetters(current)
    describeSilences(current)
    describeSuppressions(current)
    describeOperations(current)
    describeApprovals(current)
    describeBudgets(current)
    describeRuns(current)
    describeIncidents(current)
    describeReconciling(current)
    describeRefusals(current)
    describeAccess(current)
    describeSecrets(current)
    describeExpiredSecrets(current)
    describeAudit(current)
    describeMail(current)
    describePreviews(current)
  })
}
