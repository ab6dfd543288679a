/**
 * Refuses names in the settings.env of deploy/k8s that would have no effect. Kubernetes gives every line to every container, and
 * each program reads only its own settings, so a misspelt name would be ignored.
 */
import type { Environment } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { KNOWN_SETTINGS } from './known-settings.ts'

/** The manifests give this container each line of settings.env a second time, with this before its name. */
export const SETTINGS_ENV_PREFIX = 'SETTINGS_ENV_'

/** Limits that two services have with different defaults, and the prefixes that their names have in settings.env. */
const PREFIXED: Readonly<Record<string, readonly string[]>> = {
  MAX_SOCKETS: ['INGRESS_', 'ADMIN_'],
  MAX_SOCKETS_PER_ADDRESS: ['INGRESS_', 'ADMIN_'],
  BODIES_MAX_BYTES: ['INGRESS_', 'ADMIN_'],
  RATE_LIMIT_PER_KEY: ['ADMIN_'],
  RATE_LIMIT_PER_ADDRESS: ['ADMIN_'],
}

/** Settings that cannot be in settings.env, with the place where they are set. */
const SET_ELSEWHERE: Readonly<Record<string, string>> = {
  HOST: 'the image sets it',
  PORT: 'the image sets it, and the manifests use this port',
  OPS_PORT: 'the image sets it, and the manifests use this port',
  BACKSTOP_REVISION: 'the image sets it',
  NETWORK_POLICY_TARGETS: 'set it in a patch of the job backstop-network-policy-check',
}

const ACCEPTED = new Set([
  ...KNOWN_SETTINGS.filter(name => !(name in PREFIXED || name in SET_ELSEWHERE)).flatMap(name => [
    name,
    `${name}_FILE`,
  ]),
  ...Object.entries(PREFIXED).flatMap(([name, prefixes]) => prefixes.map(prefix => prefix + name)),
])

/** Why a line of settings.env with this name would have no effect; undefined if a program reads it. */
export function settingFault(name: string): string | undefined {
  if (ACCEPTED.has(name)) return undefined
  const elsewhere = SET_ELSEWHERE[name]
  if (elsewhere !== undefined) return `${name}: remove it from settings.env: ${elsewhere}`
  const prefixes = PREFIXED[name]
  if (prefixes !== undefined)
    return `${name}: its name in settings.env is ${prefixes.map(prefix => prefix + name).join(' or ')}`
  return `${name}: no program has this setting; docs/configuration.md lists all of them`
}

/** @throws AppError `config_invalid` with one line for each name of settings.env that would have no effect */
export function refuseUnknownSettings(environment: Environment): void {
  const faults = Object.keys(environment)
    .filter(variable => variable.startsWith(SETTINGS_ENV_PREFIX))
    .flatMap(variable => settingFault(variable.slice(SETTINGS_ENV_PREFIX.length)) ?? [])
  if (faults.length === 0) return
  throw new AppError('config_invalid', `settings.env has ${faults.length} error(s):\n  ${faults.join('\n  ')}`)
}
