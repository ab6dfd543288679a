import type { PreviewQuery } from '../../api/previews.ts'
import type { Draft } from './draft.ts'

/** The settings of the draft that change its messages. */
export function settingsOf({
  kind,
  template,
  showsPersonalData,
}: Draft): Pick<PreviewQuery, 'template' | 'shows_personal_data'> {
  return {
    shows_personal_data: showsPersonalData ? 'true' : 'false',
    ...(kind === 'webhook' && template.trim() !== '' ? { template } : {}),
  }
}

/** Where the messages of the draft go, in one line above the preview. */
export function targetOf({ kind, name, to, url }: Draft): string {
  if (kind === 'email')
    return to.trim() === ''
      ? ''
      : `To: ${to
          .trim()
          .split(/\s*\n\s*/)
          .join(', ')}`
  if (kind === 'webhook') return url.trim() === '' ? '' : `POST ${url.trim()}`
  return name
}
