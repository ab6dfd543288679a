import { Modal, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { isAdminAnywhere, useSession } from '../session/session.ts'
import classes from './palette.module.css'
import { PROJECT_PLACES, systemPlacesFor } from './places.ts'
import { pathOf } from './search-hits.ts'

interface Hit {
  readonly href: string
  readonly title: string
  readonly kind: string
}

/** Finds pages by their name, and everything else by the search of the API. */
export function Palette({ projectId, close }: { projectId: string | undefined; close: () => void }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { hits, error, isFetching } = useHits(text.trim(), projectId)
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return
    close()
    void navigate({ href: hit.href })
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt(old => Math.min(hits.length - 1, Math.max(0, old + step)))
    } else if (event.key === 'Enter') open(hits[at])
  }
  const type = (value: string) => {
    setText(value)
    setAt(0)
  }
  return (
    <Modal opened onClose={close} withCloseButton={false} size={560} padding={0} yOffset="12vh" centered={false}>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        className={classes.input}
        placeholder="Find an id, amount, customer, actor or page"
        aria-label="Find an id, amount, customer, actor or page"
        role="combobox"
        aria-expanded
        aria-controls="palette-hits"
        aria-activedescendant={hits[at] === undefined ? undefined : `palette-${at}`}
        value={text}
        onChange={event => type(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div id="palette-hits" role="listbox" aria-label="Results" className={classes.hits}>
        {hits.map(({ href, title, kind }, index) => (
          // The keyboard stays in the field, so the results need no focus of their own.
          <div
            key={href}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={classes.hit}
            onMouseMove={() => setAt(index)}
            onClick={() => open(hits[index])}
            onKeyDown={press}
          >
            <span dir="auto">{title}</span>
            <span className="faint">{kind}</span>
          </div>
        ))}
        {hits.length === 0 && (
          <p className={classes.none}>
            {error !== null
              ? error.message
              : isFetching
                ? 'Searching…'
                : 'Nothing found. Ids, amounts and names are found by their beginning.'}
          </p>
        )}
      </div>
    </Modal>
  )
}

/** What a text finds: pages first, and what the search of the API finds by it after a pause of typing. */
function useHits(text: string, projectId: string | undefined) {
  const { me } = useSession()
  const [query] = useDebouncedValue(text, 120)
  const isSearched = query.length >= 2
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', projectId, query],
    queryFn: ({ signal }) => api.search.search({ project_id: projectId ?? '', q: query, limit: 12 }, { signal }),
    enabled: isSearched && projectId !== undefined,
    placeholderData: keepPreviousData,
  })
  const found: Hit[] = (isSearched ? (data?.data ?? []) : []).map(result => ({
    href: pathOf(result),
    title: result.title,
    kind: result.type,
  }))
  return { hits: [...pagesFor(text, projectId, isAdminAnywhere(me)), ...found], error, isFetching }
}

function pagesFor(text: string, projectId: string | undefined, isAdmin: boolean): Hit[] {
  const project = projectId === undefined ? [] : PROJECT_PLACES.flat()
  return [...project.map(place => ({ ...place, path: `/p/${projectId}${place.path}` })), ...systemPlacesFor(isAdmin)]
    .filter(({ title, about = '' }) => `${title} ${about}`.toLowerCase().includes(text.toLowerCase()))
    .map(({ title, path }) => ({ href: path, title, kind: 'page' }))
    .slice(0, text === '' ? 8 : 4)
}
