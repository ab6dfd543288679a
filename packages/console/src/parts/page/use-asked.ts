import { useNavigate, useSearch } from '@tanstack/react-router'

const ASKED = ['acknowledge', 'ours', 'silence'] as const
export type Asked = (typeof ASKED)[number]

/**
 * The decision that a link of a message asks for: `?do=acknowledge`. Its dialog is open as long as it is in the address, and nothing
 * changes before the person confirms it.
 */
export function useAsked(): { asked: Asked | undefined; forget: () => void } {
  const given = (useSearch({ strict: false }) as { do?: string }).do
  const navigate = useNavigate()
  return {
    asked: ASKED.find(known => known === given),
    forget: () =>
      void navigate({ to: '.', search: ((old: object) => ({ ...old, do: undefined })) as never, replace: true }),
  }
}
