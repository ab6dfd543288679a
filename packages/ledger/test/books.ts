import { type NewOperation, newId, type Operation, type OutboxEntry } from '@backstop/contracts'
import type { PendingOutbox } from '@backstop/kit/outbox'
import type { LedgerOptions } from '../src/ledger.ts'
import type { Books } from '../src/published-ledger.ts'
import type { OperationConnection } from '../src/rules/operation.ts'

/** The books over one kind of store, with the project settings that admin-api stores. */
export interface TestBooks extends Books {
  /** Makes a project require approval, as admin-api does. */
  requireApproval(projectId: string, deadlineSeconds: number): Promise<void>
}

export type OpenTestBooks = (options: LedgerOptions) => Promise<TestBooks>

export const NOW = Date.parse('2026-11-21T10:00:00.000Z')

/** A separate project, so that tests are independent of each other. */
export interface TestProject {
  readonly id: string
  readonly connection: OperationConnection
  report(more?: Partial<NewOperation>): NewOperation
}

export function openProject(projectId = newId('project')): TestProject {
  const connection = { _id: newId('connection'), project_id: projectId, kind: 'processor', site: null } as const
  return {
    id: projectId,
    connection,
    report: (more = {}) => ({
      connection_id: connection._id,
      kind: 'refund',
      subject: 'pi_1',
      amount: 1200,
      currency: 'eur',
      state: 'requested',
      ...more,
    }),
  }
}

/** The announced entries of one topic. */
function entriesOfTopic(announced: readonly PendingOutbox[], topic: string): OutboxEntry[] {
  return announced.flatMap(({ entries }) => entries.filter(entry => entry.topic === topic))
}

/** The event and data of each announced alert. */
export function alertsOf(announced: readonly PendingOutbox[]): { event: string; data: Record<string, unknown> }[] {
  return entriesOfTopic(announced, 'alerts').map(
    ({ message }) => message as { event: string; data: Record<string, unknown> },
  )
}

export const shareOf = (operation: Operation) => (operation.budgets ?? []).map(({ amount, state }) => [state, amount])
