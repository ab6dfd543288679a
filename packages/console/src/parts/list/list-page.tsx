import type { ReactNode } from 'react'
import * as z from 'zod/mini'
import type { ListState } from '../../api/list.ts'
import type { ListFilters } from '../filters/filters.tsx'
import { useFilters } from '../filters/use-filters.ts'
import { type Above, PageHead } from '../page/page-head.tsx'
import type { ProjectPage } from '../page/project-link.tsx'
import { useProjectId } from '../page/use-route.ts'
import type { Column } from './columns.tsx'
import { DataList } from './data-list.tsx'

/** What opens beside the list: the row whose id is in the URL. */
interface RowPanel {
  /** The search param with the id. */
  readonly param: string
  show(id: string, close: () => void): ReactNode
}

interface ListProps<T> {
  /** What the list contains, for screen readers and errors. */
  label: string
  list: ListState<T>
  columns: readonly Column<T>[]
  /** What a row opens: the page of its thing, another address, or a panel beside the list. Without it rows open nothing. */
  opens?: ProjectPage | ((item: T) => string) | RowPanel
  filters?: ListFilters
  /** Why the list is empty, shown instead of it. */
  empty: ReactNode
  /** Below that: the one thing to do. */
  next?: ReactNode
  /** Shown instead of both if filters are set. */
  nothingFits?: string
  /** Between the filters and the list. */
  children?: ReactNode
}

/** A list with its filters. */
export function FilteredList<T>({ opens, filters, nothingFits, children, ...shown }: ListProps<T>) {
  const { list } = shown
  const isNarrowed = filters?.isFiltered === true && nothingFits !== undefined
  const projectId = useProjectId()
  const hrefOf = (item: T) => {
    if (typeof opens === 'function') return opens(item)
    const id = list.idOf(item)
    if (typeof opens === 'string') return `/p/${projectId}/${opens}/${encodeURIComponent(id)}`
    const search = { ...filters?.values, [opens?.param ?? '']: id }
    return `${window.location.pathname}?${new URLSearchParams(search)}`
  }
  return (
    <>
      {filters?.bar}
      {children}
      <DataList
        {...shown}
        {...(opens === undefined ? {} : { hrefOf })}
        {...(isNarrowed ? { empty: nothingFits, next: undefined } : {})}
      />
      {typeof opens === 'object' && <OpenPanel {...opens} />}
    </>
  )
}

function OpenPanel({ param, show }: RowPanel) {
  const [{ [param]: id }, change] = useFilters({ [param]: z.string() })
  return id === undefined ? null : show(id, () => change({ [param]: undefined }))
}

interface PageProps<T> extends Omit<ListProps<T>, 'label'> {
  title: string
  /** Of the list; the title by default. */
  label?: string
  above?: Above
  about?: ReactNode
  actions?: ReactNode
  /** Between the head of the page and the filters. */
  note?: ReactNode
}

/** A page with a list: its title, its buttons, its filters and its rows. */
export function ListPage<T>({ title, above, about, actions, note, label = title, ...list }: PageProps<T>) {
  return (
    <>
      <PageHead title={title} above={above} about={about} actions={actions} />
      {note}
      <FilteredList label={label} {...list} />
    </>
  )
}
