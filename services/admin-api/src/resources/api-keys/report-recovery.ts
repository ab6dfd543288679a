import { type Command, deterministicId, isoTime } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { CommandSender } from '../../messages/command-sender.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { allProjectIds } from './warn-of-expiry.ts'

interface ReportOptions {
  readonly stores: Pick<AdminCollections, 'apiKeys' | 'projects'>
  readonly commands: CommandSender
  readonly clock: Clock
  readonly logger: Logger
}

const LOOK_EVERY_MS = 10_000
/** A recovered key is reported within seconds, so it is among the newest keys. */
const NEWEST_KEYS = 500
/** A recovered key is found for this time after its creation, in milliseconds. Longer than any stop of this service. */
const FOUND_FOR_MS = 90 * 86_400_000

/** Alerts people about recovered admin keys: looks for them periodically. */
export function createRecoveryReporter(options: ReportOptions): Periodic {
  return createPeriodic({
    clock: options.clock,
    pauseMs: LOOK_EVERY_MS,
    async run() {
      const keys = await reportRecoveries(options, new Date(options.clock.now()))
      if (keys.length > 0) options.logger.warn({ keys }, 'api_keys.recovery_reported')
    },
    onFailure: error => options.logger.warn({ error }, 'api_keys.recovery_not_reported'),
  })
}

/**
 * Commands the reconciler to open an incident in each project for each recovered key that was not reported. The commands are sent before
 * the key is marked and have derived ids, so after a crash they are sent again and change nothing twice.
 * @returns the ids of the keys
 */
export async function reportRecoveries(
  { stores, commands }: Pick<ReportOptions, 'stores' | 'commands'>,
  now: Date,
): Promise<string[]> {
  const { apiKeys, projects } = stores
  const window = { from: new Date(now.getTime() - FOUND_FOR_MS) }
  const recent = await apiKeys.page({ where: {}, by: 'created_at', window, limit: NEWEST_KEYS })
  const reported: string[] = []
  for (const { _id: key_id, unreported_recovery: operator } of recent) {
    if (operator === undefined || operator === null) continue
    const projectIds = await allProjectIds(projects)
    await commands.send(
      projectIds.map((project_id): Command => {
        const incident_id = deterministicId('incident', 'key_recovered', key_id, project_id)
        const command_id = deterministicId('command', incident_id, 'recovered')
        const common = { command_id, project_id, requested_at: isoTime(now.getTime()), incident_id, key_id }
        return { ...common, kind: 'open_recovered_key_incident', operator }
      }),
    )
    await apiKeys.change({ _id: key_id }, { unreported_recovery: null })
    reported.push(key_id)
  }
  return reported
}
