import type { NewTopic, TopicAdmin } from '@backstop/kit/bus'
import { AppError, isRetryable } from '@backstop/kit/errors'
import type { Report } from '../report.ts'
import { planTopics, type TopicPlan } from './plan-topics.ts'

/** Maximum number of plans. A plan is repeated if it fails because a concurrent job made changes. */
const MAX_ATTEMPTS = 5

/**
 * Creates missing topics and adds missing partitions.
 * @throws AppError `conflict` with one line per difference that may not be changed in place; nothing was changed then.
 *   `unavailable` while the broker does not answer or elects a leader: the call may be repeated
 */
export async function provisionTopics(admin: TopicAdmin, wanted: readonly NewTopic[], report: Report): Promise<void> {
  const names = wanted.map(({ name }) => name)
  for (let attempt = 1; ; attempt += 1) {
    const plan = planTopics(wanted, await admin.describe(names))
    if (plan.conflicts.length > 0) {
      const list = plan.conflicts.join('\n  ')
      throw new AppError(
        'conflict',
        `${plan.conflicts.length} topic setting(s) differ and are not changed by this job:\n  ${list}`,
      )
    }
    if (plan.create.length === 0 && plan.grow.length === 0) {
      report(`topics: all ${wanted.length} are as they should be`)
      return
    }
    try {
      await applyPlan(admin, plan, report)
    } catch (error) {
      if (isRetryable(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

async function applyPlan(admin: TopicAdmin, plan: TopicPlan, report: Report): Promise<void> {
  if (plan.create.length > 0) await admin.create(plan.create)
  for (const { name, partitions, replication } of plan.create) {
    report(`topic ${name}: created, ${partitions} partitions, ${replication} copies`)
  }
  for (const { name, from, to } of plan.grow) {
    await admin.addPartitions(name, to)
    report(`topic ${name}: from ${from} to ${to} partitions`)
  }
}
