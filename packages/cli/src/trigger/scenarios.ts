import type { NewOperation } from '@backstop/client'
import type { Made, Paid, TriggerAccount } from './account.ts'

/** What a scenario acts with. */
interface Stage {
  readonly account: TriggerAccount
  readonly amount: number
  readonly count: number
  report(operation: Omit<NewOperation, 'connection_id'>): Promise<void>
  /** Waits as long as an operation of the scenario is late. */
  waitForLateness(): Promise<void>
}

/** One scenario: what happens at the provider and in the customer's software, and what Backstop should do. */
export interface Scenario {
  readonly about: string
  readonly expect: string
  readonly run: (stage: Stage) => Promise<readonly Made[]>
}

const operationOf = ({ subject, amount, currency }: Paid): Omit<NewOperation, 'connection_id'> => ({
  kind: 'refund',
  subject,
  amount,
  currency,
  state: 'executing',
})

export const SCENARIOS = {
  refund: {
    about: 'a refund that nobody reported',
    expect: 'one incident after the second look (a minute by default)',
    run: async ({ account, amount }) => [account.pay(amount).refund()],
  },
  cancellation: {
    about: 'a cancellation that nobody reported',
    expect: 'one incident after the second look (a minute by default)',
    run: async ({ account }) => [account.cancel()],
  },
  'explained-refund': {
    about: 'a refund that your software reported before',
    expect: 'the verdict explained, and no incident',
    async run({ account, amount, report }) {
      const paid = account.pay(amount)
      await report(operationOf(paid))
      return [paid.refund()]
    },
  },
  'late-operation': {
    about: 'a refund whose operation is reported after it',
    expect:
      'unexplained at first, explained once the operation is reported; an incident that opened meanwhile is resolved',
    async run({ account, amount, report, waitForLateness }) {
      const paid = account.pay(amount)
      const refund = paid.refund()
      await waitForLateness()
      await report({ ...operationOf(paid), provider_ref: refund.providerRef })
      return [refund]
    },
  },
  duplicate: {
    about: 'an unreported refund whose events arrive twice',
    expect: 'one incident',
    async run({ account, amount }) {
      account.duplicate()
      return [account.pay(amount).refund()]
    },
  },
  storm: {
    about: 'many unreported refunds within seconds, as with a leaked key',
    expect: 'an incident each; people get one report of the storm in place of single messages',
    run: async ({ account, amount, count }) => Array.from({ length: count }, () => account.pay(amount).refund()),
  },
  'wrong-signature': {
    about: 'an event that is signed with a wrong secret',
    expect: 'ingress refuses it, and nothing is recorded',
    async run({ account, amount }) {
      account.spoilSignature()
      return [account.pay(amount).refund()]
    },
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS
