import { type ApprovalPolicy, approvalPolicyOf } from '../src/rules/approval.ts'
import { describeApprovals } from './approvals.contract.ts'
import type { OpenTestBooks } from './books.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeLedger } from './ledger.contract.ts'
import { openMemoryBooks } from './memory-books.ts'
import { describeRuns } from './runs.contract.ts'

const open: OpenTestBooks = async options => {
  const policies = new Map<string, ApprovalPolicy>()
  const books = openMemoryBooks(options, async id => policies.get(id) ?? approvalPolicyOf(undefined))
  return {
    ...books,
    requireApproval: async (id, seconds) => void policies.set(id, { required: true, deadlineMs: seconds * 1_000 }),
  }
}

describeLedger('memory', open)
describeApprovals('memory', open)
describeBudgets('memory', open)
describeRuns('memory', open)
