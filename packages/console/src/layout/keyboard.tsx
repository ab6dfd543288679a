import { Kbd, Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { isTyping } from '../parts/page/index.ts'
import { PROJECT_PLACES, SYSTEM_PLACES } from './places.ts'

const loadPalette = () => import('./palette.tsx')
const Palette = lazy(() => loadPalette().then(({ Palette }) => ({ default: Palette })))
const SEQUENCE_MS = 1_500
const PALETTE_AFTER_MS = 1_000
const GENERAL = [
  ['⌘K or Ctrl K', 'Find any id, amount, customer or page'],
  ['?', 'Show these keys'],
  ['j and k', 'Choose the next or the previous row'],
  ['enter', 'Open the chosen row'],
  ['a', 'Acknowledge the open incident or storm'],
  ['r', 'Resolve the open incident or storm'],
  ['esc', 'Close a dialog or a panel'],
] as const

/** What is shown above the page. */
export type ShownOverlay = 'none' | 'keys' | 'palette'

interface Props {
  projectId: string | undefined
  shown: ShownOverlay
  setShown: (shown: ShownOverlay) => void
}

/** The keys that work on every page, their list, and the command palette. */
export function Keyboard({ projectId, shown, setShown }: Props) {
  const navigate = useNavigate()
  const beganAtMs = useRef(0)
  // Loaded after the page, so that it opens at once and loses no key that is typed into it.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), PALETTE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return setShown('palette')
      }
      if (isTyping(event)) return
      if (event.key === '?') return setShown('keys')
      if (event.key === 'g') {
        beganAtMs.current = Date.now()
        return
      }
      const isSecond = Date.now() - beganAtMs.current < SEQUENCE_MS
      beganAtMs.current = 0
      const href = isSecond ? placeOf(event.key, projectId) : undefined
      if (href === undefined) return
      event.preventDefault()
      void navigate({ to: href as '/' })
    }
    window.addEventListener('keydown', press, { capture: true })
    return () => window.removeEventListener('keydown', press, { capture: true })
  }, [navigate, projectId, setShown])
  const close = () => setShown('none')
  return (
    <>
      <Modal opened={shown === 'keys'} onClose={close} title="Keys" size="md">
        <dl style={{ display: 'grid', gap: 4 }}>
          {[...GENERAL, ...placeKeys()].map(([key, does]) => (
            <div key={key} style={{ display: 'grid', gridTemplateColumns: '120px 1fr' }}>
              <dt>
                <Kbd fw={400}>{key}</Kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Modal>
      {shown === 'palette' && (
        <Suspense>
          <Palette projectId={projectId} close={close} />
        </Suspense>
      )}
    </>
  )
}

function placeOf(key: string, projectId: string | undefined): string | undefined {
  const system = SYSTEM_PLACES.find(place => place.key === key)
  if (system !== undefined) return system.path
  const place = PROJECT_PLACES.flat().find(each => each.key === key)
  return place === undefined || projectId === undefined ? undefined : `/p/${projectId}${place.path}`
}

function placeKeys(): [string, string][] {
  return [...PROJECT_PLACES.flat(), ...SYSTEM_PLACES].flatMap(({ key, title }) =>
    key === undefined ? [] : [[`g ${key}`, title]],
  )
}
