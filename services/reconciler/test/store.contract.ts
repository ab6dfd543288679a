import type { ReconcilerStores } from '../src/stores.ts'
import { caseContract } from './cases.contract.ts'
import { type ConnectionsUnderTest, connectionContract } from './connections.contract.ts'
import { type ExpectedChangesUnderTest, expectedChangeContract } from './expected-changes.contract.ts'
import { inboxContract } from './inbox.contract.ts'
import { inboxReplayContract } from './inbox-replays.contract.ts'
import { incidentOutcomeContract } from './incident-outcomes.contract.ts'
import { openActionContract } from './open-actions.contract.ts'
import { operationSearchContract } from './operation-search.contract.ts'
import { type ProjectionsUnderTest, projectionContract } from './projections.contract.ts'
import { standaloneIncidentContract } from './standalone-incidents.contract.ts'
import { type SweepDaysUnderTest, sweepDayContract } from './sweep-days.contract.ts'
import { sweepContract } from './sweeps.contract.ts'

/** The reconciler's stores, and functions for data that their ports cannot read or write. */
export interface StoresUnderTest
  extends ReconcilerStores,
    ProjectionsUnderTest,
    ExpectedChangesUnderTest,
    SweepDaysUnderTest,
    ConnectionsUnderTest {}

/** The contract of each store, for an implementation of all of them. Each test gets empty stores. */
export function storeContract(name: string, open: () => Promise<StoresUnderTest>): void {
  caseContract(name, open)
  projectionContract(name, open)
  openActionContract(name, open)
  standaloneIncidentContract(name, open)
  incidentOutcomeContract(name, open)
  inboxContract(name, open)
  inboxReplayContract(name, open)
  connectionContract(name, open)
  expectedChangeContract(name, open)
  operationSearchContract(name, open)
  sweepContract(name, open)
  sweepDayContract(name, open)
}
