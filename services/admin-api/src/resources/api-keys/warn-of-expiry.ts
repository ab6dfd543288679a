import { type ApiKeyDocument, type Command, deterministicId, isHeartbeatProject, isoTime } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { CommandSender } from '../../commands/command-sender.ts'
import type { AdminCollections } from '../../store/stores.ts'
import { readAll } from '../../store/walk-pages.ts'
import { endOfWarning, isWarningDue, keyIncidentId, warningWindow } from './rules/api-key.ts'

interface WarningOptions {
  readonly stores: Pick<AdminCollections, 'apiKeys' | 'projects'>
  readonly commands: CommandSender
  readonly clock: Clock
  readonly logger: Logger
}

/** Pause between two looks for keys that expire soon, in milliseconds. */
const LOOK_EVERY_MS = 60_000

/** Warns people about keys that expire soon: looks for them periodically. */
export function createExpiryWarner(options: WarningOptions): Periodic {
  return createPeriodic({
    clock: options.clock,
    pauseMs: LOOK_EVERY_MS,
    async run() {
      const { warned, ended } = await warnOfExpiry(options, new Date(options.clock.now()))
      if (warned + ended > 0) options.logger.info({ warned, ended }, 'api_keys.expiry_warned')
    },
    onFailure: error => options.logger.warn({ error }, 'api_keys.expiry_not_warned'),
  })
}

/**
 * Commands the reconciler to open an incident for each key that expires soon, and to resolve the incidents of keys that were rotated or
 * revoked, or have expired. The incident raises the alert. The commands are sent before the key is marked and have derived ids, so after a
 * crash they are sent again and change nothing twice.
 */
export async function warnOfExpiry(
  { stores, commands }: Pick<WarningOptions, 'stores' | 'commands'>,
  now: Date,
): Promise<{ readonly warned: number; readonly ended: number }> {
  const { apiKeys } = stores
  const window = warningWindow(now)
  const unwarned = { revoked_at: null, warned_expiry: null }
  const expiring = await readAll(apiKeys, { where: unwarned, by: 'expires_at', window })
  // The key that expires first is reported first.
  const due = expiring.filter(key => isWarningDue(key, now)).toReversed()
  const warnedKeys = await readAll(apiKeys, { where: {}, by: 'warned_expiry', window: { from: new Date(0) } })
  const over = warnedKeys.filter(key => endOfWarning(key, now) !== undefined)
  for (const key of over) {
    await commands.send(await commandsOf(stores, key, key.warned_expiry, now, endOfWarning(key, now)))
    await apiKeys.change({ _id: key._id, warned_expiry: key.warned_expiry }, { warned_expiry: null })
  }
  for (const key of due) {
    await commands.send(await commandsOf(stores, key, key.expires_at, now))
    const asRead = { _id: key._id, expires_at: key.expires_at, revoked_at: null }
    const marked = await apiKeys.change(asRead, { warned_expiry: key.expires_at })
    if (marked === undefined) await commands.send(await commandsOf(stores, key, key.expires_at, now, 'rotated'))
  }
  return { warned: due.length, ended: over.length }
}

/** One command for each project in which the key works. @param outcome undefined to open the incidents */
async function commandsOf(
  { projects }: WarningOptions['stores'],
  { _id: key_id, name, project_id }: ApiKeyDocument,
  expiry: Date | null,
  now: Date,
  outcome?: ReturnType<typeof endOfWarning>,
): Promise<Command[]> {
  if (expiry === null) return []
  const projectIds = project_id === null ? await allProjectIds(projects) : [project_id]
  return projectIds.map(projectId => {
    const incident_id = keyIncidentId(key_id, expiry, projectId)
    const common = { project_id: projectId, requested_at: isoTime(now.getTime()), incident_id, key_id }
    const command_id = deterministicId('command', incident_id, outcome ?? 'expiring')
    return outcome === undefined
      ? { ...common, command_id, kind: 'open_key_incident', key_name: name, expires_at: expiry.toISOString() }
      : { ...common, command_id, kind: 'resolve_key_incident', outcome }
  })
}

/** The ids of all projects of people. */
export async function allProjectIds(projects: WarningOptions['stores']['projects']): Promise<string[]> {
  const all = await readAll(projects, { where: {}, by: 'created_at' })
  return all.map(({ _id }) => _id).filter(id => !isHeartbeatProject(id))
}

interface ReportOptions {
  readonly stores: Pick<AdminCollections, 'apiKeys' | 'projects'>
  readonly commands: CommandSender
  readonly clock: Clock
  readonly logger: Logger
}

const LOOK_FOR_RECOVERIES_EVERY_MS = 10_000
/** A recovered key is reported within seconds, so it is among the newest keys. */
const NEWEST_KEYS = 500
/** A recovered key is found for this time after its creation, in milliseconds. Longer than any stop of this service. */
const FOUND_FOR_MS = 90 * 86_400_000

/** Alerts people about recovered admin keys: looks for them periodically. */
export function createRecoveryReporter(options: ReportOptions): Periodic {
  return createPeriodic({
    clock: options.clock,
    pauseMs: LOOK_FOR_RECOVERIES_EVERY_MS,
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
