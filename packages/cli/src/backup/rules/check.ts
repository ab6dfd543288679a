/** The result of one check of a backup. */
export interface Check {
  readonly check: 'structure' | 'secrets' | 'audit' | 'references' | 'budgets' | 'totals'
  /** What was compared, for people to read. */
  readonly about: string
  readonly state: 'ok' | 'failed' | 'not_checked'
  /** How many things were compared. */
  readonly checked: number
  /** Each fault in words, at most MAX_SHOWN of them. */
  readonly faults: readonly string[]
  /** All faults, also those that are not shown. */
  readonly fault_count: number
  /** Empty without a fault. */
  readonly remedy: string
}

const MAX_SHOWN = 10

export type CheckName = Check['check']

const ABOUT: Readonly<Record<CheckName, string>> = {
  structure: 'collections and indexes',
  secrets: 'secrets of connections and channels, opened with SECRET_KEYS',
  audit: 'hash chain of the audit',
  references: 'projects, actions and incidents that other documents name',
  budgets: 'amounts of budgets, counted again from their operations',
  totals: 'daily totals, counted again from the actions',
}

const REMEDIES: Readonly<Record<CheckName, string>> = {
  structure: 'Run the deploy job before the services start',
  secrets:
    'Set SECRET_KEYS to the keys of the time of the backup (docs/rotation.md); secrets that stay closed are lost',
  audit: 'Use another backup, or find out who changed the audit',
  references: 'The backup is not of one moment: use mongodump --oplog, a snapshot of all members, or another backup',
  budgets: 'The backup is not of one moment: use mongodump --oplog, a snapshot of all members, or another backup',
  totals: 'The backup is not of one moment: use mongodump --oplog, a snapshot of all members, or another backup',
}

export function checkOf(check: CheckName, checked: number, faults: readonly string[]): Check {
  const isOk = faults.length === 0
  return {
    check,
    about: ABOUT[check],
    state: isOk ? 'ok' : 'failed',
    checked,
    faults: faults.slice(0, MAX_SHOWN),
    fault_count: faults.length,
    remedy: isOk ? '' : REMEDIES[check],
  }
}

export function notChecked(check: CheckName): Check {
  const none = { checked: 0, faults: [], fault_count: 0, remedy: '' }
  return { check, about: ABOUT[check], state: 'not_checked', ...none }
}
