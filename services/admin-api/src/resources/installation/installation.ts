import { InstallationWork, ProcessList } from '@backstop/contracts'
import { requireAllProjects } from '../../http/find-resource.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { describeProcesses } from '../../installation/rules/describe-processes.ts'
import type { Waiting } from '../../installation/rules/summarize.ts'
import type { AdminParts } from '../../parts.ts'

/** GET /v1/installation and /v1/processes */
export function installationRoutes({
  installation,
  stores,
  clock,
}: Pick<AdminParts, 'installation' | 'stores' | 'clock'>): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/processes',
      operationId: 'getProcesses',
      tag: 'Installation',
      summary: 'List the processes of all services, and why they are not ready',
      description: 'As they reported themselves. Requires a key for all projects.',
      scope: 'admin',
      answers: { 200: { description: 'The processes', schema: ProcessList } },
      async handle({ principal }) {
        requireAllProjects(principal)
        return { status: 200, body: { processes: describeProcesses(await stores.processes.findAll({}), clock.now()) } }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/installation',
      operationId: 'getInstallation',
      tag: 'Installation',
      summary: 'Count the work of all services that waits',
      description: 'The same values as the metrics `installation_…`. Requires a key for all projects.',
      scope: 'admin',
      answers: { 200: { description: 'The work that waits', schema: InstallationWork } },
      async handle({ principal }) {
        requireAllProjects(principal)
        const nowMs = clock.now()
        const verdicts = await installation.undecided(nowMs)
        const { pending, retrying } = await installation.deliveries(nowMs)
        const outboxes = await installation.outboxes(nowMs)
        const { keyRejected, unreadable, silent, sweepAgeMs } = await installation.connections(nowMs)
        const body: InstallationWork = {
          verdicts: { ...showWaiting(verdicts), overdue: verdicts.overdue, waiting_for_provider: verdicts.waiting },
          deliveries: { pending: showWaiting(pending), retrying: showWaiting(retrying) },
          messages: showWaiting({
            count: outboxes.reduce((sum, { count }) => sum + count, 0),
            oldestMs: Math.max(0, ...outboxes.map(({ oldestMs }) => oldestMs)),
          }),
          providers: { key_rejected: keyRejected, unreadable, silent, sweep_age_seconds: sweepAgeMs / 1000 },
        }
        return { status: 200, body }
      },
    }),
  ]
}

function showWaiting({ count, oldestMs }: Waiting) {
  return { count, oldest_seconds: oldestMs / 1000 }
}
