import { PROGRAMS } from '../configuration-docs/page.ts'

/** packages/provision/src/unknown-settings/known-settings.ts: the names of the settings of every program, which that package cannot import. */
export function knownSettingsText(): string {
  const names = [...new Set(Object.values(PROGRAMS).flatMap(settings => Object.keys(settings)))].toSorted()
  return [
    '/** The settings of every program. Written by `npm run manifests`; do not edit. */',
    'export const KNOWN_SETTINGS: readonly string[] = [',
    ...names.map(name => `  '${name}',`),
    ']',
    '',
  ].join('\n')
}
