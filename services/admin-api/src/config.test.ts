import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readAdminConfig, settings, settingsOf } from './config.ts'

const example = parseEnv(readFileSync(new URL('../.env.example', import.meta.url), 'utf8')) as Record<string, string>

describe('the settings of admin-api', () => {
  test('are all in .env.example, which has no other settings', () => {
    expect(Object.keys(example).sort()).toEqual(Object.keys(settings).sort())
  })

  test('are valid as .env.example has them, and those with a default are shown with it', () => {
    const required = ['KAFKA_BROKERS', 'MONGO_URL', 'SCHEMA_REGISTRY_URL', 'SECRET_KEYS', 'INGRESS_PUBLIC_URL']
    const least = Object.fromEntries(required.map(name => [name, example[name]]))
    const { OPS_PORT, MONGO_URL, SECRET_KEYS, ...shown } = readAdminConfig(example)
    expect(readAdminConfig(least)).toMatchObject(shown)
    expect([OPS_PORT, `${MONGO_URL}`, SECRET_KEYS.primary]).toEqual([9104, '[secret]', 'example'])
  })

  test('accept any first API key of 32 characters or more, and never show it', () => {
    const chosen = 'k'.repeat(32)
    const { BOOTSTRAP_API_KEY } = readAdminConfig({ ...example, BOOTSTRAP_API_KEY: chosen })
    expect(BOOTSTRAP_API_KEY?.reveal()).toBe(chosen)
    const refusal = 'BOOTSTRAP_API_KEY: Give at least 32 characters'
    expect(() => readAdminConfig({ ...example, BOOTSTRAP_API_KEY: chosen.slice(1) })).toThrow(refusal)
  })

  test.each(['0', '400', '36500'])('accept %s days before actions are archived', days => {
    expect(settingsOf(readAdminConfig({ ...example, ARCHIVE_AFTER_DAYS: days })).archiveAfterDays).toBe(Number(days))
  })

  test.each(['1', '399', '36501', '-1', '13 months'])('refuse %s days, which are too few or none', days => {
    expect(() => readAdminConfig({ ...example, ARCHIVE_AFTER_DAYS: days })).toThrow(/ARCHIVE_AFTER_DAYS: Give/)
  })

  test.each([
    { issuer: 'https://login.example.com/tenant', accepted: true },
    { issuer: 'http://127.0.0.1:8080', accepted: true },
    { issuer: 'http://localhost:8080/realms/x', accepted: true },
    { issuer: 'http://login.example.com', accepted: false },
    { issuer: 'http://127.evil.example.com', accepted: false },
    { issuer: 'https://login.example.com?tenant=x', accepted: false },
    { issuer: 'login.example.com', accepted: false },
  ])('accept an issuer with TLS or on loopback: $issuer, $accepted', ({ issuer, accepted }) => {
    const read = () => readAdminConfig({ ...example, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'backstop' })
    if (accepted) expect(settingsOf(read()).oidc).toMatchObject({ issuer, scopes: 'openid profile email' })
    else expect(read).toThrow(/OIDC_ISSUER/)
  })

  test('name the client of an issuer, and name no client without one', () => {
    expect(() => readAdminConfig({ ...example, OIDC_ISSUER: 'https://login.example.com' })).toThrow(/OIDC_CLIENT_ID/)
    expect(() => readAdminConfig({ ...example, OIDC_CLIENT_ID: 'backstop' })).toThrow(/OIDC_ISSUER/)
  })

  test('give roles to groups, in one project or in all', () => {
    const OIDC_ROLES = 'finance=viewer, cn=admins=admin,/pay ments=manager@prj_1'
    expect(readAdminConfig({ ...example, OIDC_ROLES }).OIDC_ROLES).toEqual([
      { group: 'finance', role: 'viewer', project_id: null },
      { group: 'cn=admins', role: 'admin', project_id: null },
      { group: '/pay ments', role: 'manager', project_id: 'prj_1' },
    ])
  })

  test.each(['finance', 'finance=', '=viewer', 'finance=owner', 'finance=viewer@', 'finance=viewer@shop', 'a=Viewer'])(
    'refuse a role of a group in another form: %s',
    OIDC_ROLES => {
      expect(() => readAdminConfig({ ...example, OIDC_ROLES })).toThrow(
        `OIDC_ROLES: "${OIDC_ROLES}" is not <group>=<role>`,
      )
    },
  )

  test('report all invalid settings at once, without secrets', () => {
    const faulty = {
      ...example,
      PORT: 'eighty',
      INGRESS_PUBLIC_URL: 'nowhere',
      SECRET_KEYS: 'k:tooshort',
      MONGO_URL: '',
    }
    expect(() => readAdminConfig(faulty)).toThrow(/4 error/)
    expect(() => readAdminConfig(faulty)).not.toThrow(/tooshort/)
  })
})
