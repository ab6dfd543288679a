/** A list page, and everything in it. */
export { type Column, moneyColumn, textColumn, timeColumn } from './columns.tsx'
export { DataList } from './data-list.tsx'
export { DownloadMenu } from './download-menu.tsx'
export { FilteredList, ListPage } from './list-page.tsx'
export { Panel, Section } from './panel.tsx'
export { useLiveRefresh, useReadAgain } from './use-refresh.ts'
