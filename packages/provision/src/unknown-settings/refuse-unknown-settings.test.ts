import { describe, expect, test } from 'vitest'
import { KNOWN_SETTINGS } from './known-settings.ts'
import { refuseUnknownSettings, SETTINGS_ENV_PREFIX, settingFault } from './refuse-unknown-settings.ts'

const refuse =
  (...names: string[]) =>
  () =>
    refuseUnknownSettings(Object.fromEntries(names.map(name => [SETTINGS_ENV_PREFIX + name, '1'])))

describe('a name in settings.env', () => {
  test.each([
    'SHED_WAIT_MS',
    'STORM_FROM',
    'SWEEP_EVERY_MS',
    'TOPIC_REPLICATION',
    'KAFKA_CA_FILE',
    'ADMIN_MAX_SOCKETS',
  ])('%s is accepted', name => {
    expect(refuse(name)).not.toThrow()
  })

  test('that no program has is refused, together with all others', () => {
    expect(refuse('SHED_WAIT', 'LOG_LEVEL', 'SHED_UTILIZATION')).toThrow(
      /settings.env has 2 error\(s\):\n {2}SHED_WAIT: no program has this setting.*\n {2}SHED_UTILIZATION: no program/,
    )
  })

  test('that two services use differently is refused without its prefix', () => {
    expect(refuse('MAX_SOCKETS')).toThrow('its name in settings.env is INGRESS_MAX_SOCKETS or ADMIN_MAX_SOCKETS')
  })

  test('that is set elsewhere is refused, and says where', () => {
    expect(refuse('OPS_PORT')).toThrow('OPS_PORT: remove it from settings.env: the image sets it')
  })

  test('of every setting is accepted, or refused with the place where it is set', () => {
    const faults = KNOWN_SETTINGS.flatMap(name => settingFault(name) ?? [])
    expect(faults.filter(fault => fault.includes('no program'))).toEqual([])
    expect(faults.length).toBe(10)
  })
})

test('other variables of the container are not judged', () => {
  expect(() => refuseUnknownSettings({ PATH: '/bin', SHED_WAIT: '1' })).not.toThrow()
})
