"""Sentences in scripts that other products lost: what `cases` OPEN-04 and the tests of the analyser share."""

from __future__ import annotations

SCRIPTS = (
    "用户的服务器部署在新加坡节点",
    "今日は散歩で公園に行った",
    "오늘 회의에서 예산을 확정했다",
    "重启nginx-gateway后恢复正常",
    "רחבת החניה של רונית",
    "Пароль от сейфа меняем раз в квартал",
    "รหัสตู้เซฟอยู่ในลิ้นชัก",
    "Le café ferme à midi",
    "The cafeteria is on floor 2",
)
